import { createHash } from 'node:crypto'
import { canonicalJson } from '../../kernel/canonical-json.ts'

/** Settings of a model, as the configuration has them. */
export type ModelSettings = {
  /** Name in results and costs. */
  name: string
  url: string
  api_key?: string | undefined
  cents_per_million_input: number
  timeout_ms: number
} & (
  | {
      type: 'openai'
      model: string
      use: readonly ('judge' | 'multi_model' | 'extract' | 'lost_context')[]
      cents_per_million_output: number
    }
  | { type: 'nli-http'; model?: string | undefined; format: 'nli' | 'grounding' }
  | { type: 'embeddings'; model: string }
)

export type ChatSettings = Extract<ModelSettings, { type: 'openai' }>
export type NliSettings = Extract<ModelSettings, { type: 'nli-http' }>
export type EmbeddingSettings = Extract<ModelSettings, { type: 'embeddings' }>

/** A priced call of a model. The reply of a call is JSON. */
export type PricedCall = {
  /** Identifies the question: the same question to the same model has the same key. */
  key: string
  /** Name of the model or search endpoint. */
  model: string
  /** Maximum cost, booked before the call. */
  nano_dollars_max: bigint
  send(signal: AbortSignal): Promise<PaidReply>
}

export type PaidReply = {
  reply: Record<string, unknown>
  input_tokens: number | null
  output_tokens: number | null
  nano_dollars: bigint
}

/**
 * A priced call that failed at a known cost, such as an error reply that the server does not
 * charge. After any other failure of `send` the booked cost stays, unless the server was not
 * reached: it may have charged the call.
 */
export class PaidCallFailed extends Error {
  override readonly name = 'PaidCallFailed'
  readonly nano_dollars: bigint

  /** The message is stored with the call, and shown to members of the project. */
  constructor(message: string, nano_dollars = 0n) {
    super(message)
    this.nano_dollars = nano_dollars
  }
}

/**
 * A model gave no usable reply. The message is a reason for readers of a project: it has the name
 * of the model, and neither its address nor text of a request or reply.
 */
export class ModelFailed extends Error {
  override readonly name = 'ModelFailed'
  /** Whether the model may charge the request. */
  readonly isCharged: boolean

  constructor(message: string, { isCharged, cause }: { isCharged: boolean; cause?: unknown }) {
    super(message, { cause })
    this.isCharged = isCharged
  }
}

/** Turns a failure of a model into that of a priced call. */
export async function chargeUpTo<T>(nano_dollars_max: bigint, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ModelFailed)) throw error
    throw new PaidCallFailed(error.message, error.isCharged ? nano_dollars_max : 0n)
  }
}

/** Returns the JSON of a reply with status 200. Other statuses are not charged. */
export function successOf(
  { name }: Pick<ModelSettings, 'name'>,
  { status, json }: { status: number; json: unknown },
): unknown {
  if (status === 200) return json
  throw new ModelFailed(`model ${name}: the endpoint answered ${status}`, { isCharged: false })
}

/** Minimum average bytes per token in every language that models support. */
const bytes_per_token_min = 2

/** Returns the most tokens that a text is expected to have. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytes_per_token_min)
}

const nanoDollarsPerCent = 10_000_000
const million = 1_000_000

/** Returns the price of tokens in billionths of a dollar, rounded up. */
export function priceOf(tokens: number, cents_per_million: number): bigint {
  return BigInt(Math.ceil((tokens * cents_per_million * nanoDollarsPerCent) / million - 1e-6))
}

/** Returns a digest that identifies a question when a run is repeated. */
export function keyOf(question: unknown): string {
  return createHash('sha256').update(canonicalJson(question)).digest('hex')
}

/** Returns text that JSON columns of PostgreSQL can store: without NUL and lone surrogates. */
export function toStorable(text: string, chars_max: number): string {
  return text.slice(0, chars_max).replaceAll('\0', '').toWellFormed()
}

/**
 * Returns whether two names mean the same model: `openai/gpt-4o-2024-08-06` is `gpt-4o`, and
 * `us.anthropic.claude-3-5-sonnet-20241022-v2:0` is `claude-3.5-sonnet-latest`.
 */
export function isSameModel(one: string, other: string): boolean {
  const [first, second] = [toFamily(one), toFamily(other)]
  return first !== '' && first === second
}

function toFamily(name: string): string {
  const last = name.slice(0, 200).toLowerCase().trim().split('/').at(-1) ?? ''
  return last
    .replace(/^(?:(?:us|eu|apac|global)\.)?(?:anthropic|meta|mistral|amazon|cohere)\./, '')
    .replace(/(?:-v\d+)?:\w+$/, '')
    .replace(/@.*$/, '')
    .replace(/[-_.](?:latest|preview|exp|stable)$/, '')
    .replace(/[-_.@](?:20\d{2}-?\d{2}-?\d{2}|\d{2}-\d{2}|\d{3,4})$/, '')
    .replace(/[-_.](?:latest|preview|exp|stable)$/, '')
    .replaceAll(/[._ ]/g, '-')
}

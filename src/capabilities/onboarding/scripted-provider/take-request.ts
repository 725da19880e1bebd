import type { IncomingMessage } from 'node:http'
import { dialects } from './dialects/registry.ts'
import { type CompletionRequest, completionRequestFrom, type Endpoint } from './request.ts'
import {
  type ErrorReply,
  type Match,
  type ProviderName,
  plainStep,
  type Script,
  type Step,
} from './script.ts'
import type { SeenRequest } from './seen.ts'

/** Whom a path is meant for; `endpoint` is null when nothing is there. */
type Route = { provider: ProviderName; endpoint: Endpoint | null }

/** Finds the provider and endpoint of a path; unknown paths are refused in OpenAI's form. */
export function routeOf(path: string): Route {
  const found = Object.values(dialects).find(({ base_path }) => path.startsWith(`${base_path}/`))
  if (!found) return { provider: 'openai', endpoint: null }
  const rest = path.slice(found.base_path.length)
  if (rest === '/chat/completions')
    return { provider: found.provider, endpoint: 'chat.completions' }
  const legacy = rest === '/completions' && found.legacy_completions
  return { provider: found.provider, endpoint: legacy ? 'completions' : null }
}

/** Node's flat list of raw headers as names and values. */
export function headerPairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[index * 2] ?? '',
    raw[index * 2 + 1] ?? '',
  ])
}

/** A body is read up to this, and its connection closed beyond. */
const body_bytes_max = 67_108_864

/** Reads the whole body; undefined when the client left, or it is too large. */
export async function bodyOf(
  incoming: IncomingMessage,
  request: SeenRequest,
  kept_bytes_max: number,
): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  try {
    for await (const part of incoming) {
      request.body_bytes += part.length
      if (request.body_bytes > body_bytes_max) return undefined
      parts.push(part)
    }
  } catch {
    return undefined
  }
  const whole = Buffer.concat(parts)
  request.body = whole.subarray(0, kept_bytes_max)
  return whole
}

/** The request, or the error that it gets before any step is looked at. */
export function completionOf(
  incoming: IncomingMessage,
  { provider, endpoint }: Route,
  body: Buffer,
  { script }: ScriptPlay,
): CompletionRequest | ErrorReply {
  const dialect = dialects[provider]
  if (endpoint === null) return refusal(404, `Unknown request URL: ${incoming.url}.`)
  if (incoming.method !== 'POST') return refusal(405, `${incoming.method} is not allowed here.`)
  const key = incoming.headers.authorization?.replace(/^Bearer /i, '')
  if (script.required_key !== null && key !== script.required_key) {
    return { ...refusal(dialect.key_refused.status, ''), ...dialect.key_refused }
  }
  const request = completionRequestFrom({ provider, endpoint }, body)
  if ('param' in request) return refusal(400, request.message, request.param)
  if (request.stream_options_given && !script.knows_stream_options) {
    const message = 'Unrecognized request argument supplied: stream_options'
    return refusal(400, message, 'stream_options')
  }
  if (request.n > dialect.n_max) {
    return refusal(400, `n: got ${request.n}, expected at most ${dialect.n_max}`, 'n')
  }
  return request
}

function refusal(status: number, message: string, param: string | null = null): ErrorReply {
  return { status, message, param, headers: {} }
}

/** A script in play: which steps still have uses left. */
export class ScriptPlay {
  readonly script: Script
  readonly #left: Map<Step, number>

  constructor(script: Script) {
    this.script = script
    this.#left = new Map(script.steps.map((step) => [step, step.times ?? Infinity]))
  }

  /** Takes the first step that answers this request, or the plain echo. */
  next(request: CompletionRequest): Step {
    const step = this.script.steps.find(
      (candidate) => (this.#left.get(candidate) ?? 0) > 0 && matches(candidate.match, request),
    )
    if (!step) return plainStep()
    this.#left.set(step, (this.#left.get(step) ?? 0) - 1)
    return step
  }
}

function matches(match: Match, request: CompletionRequest): boolean {
  const last = request.messages.at(-1)
  const equal: readonly (readonly [wanted: unknown, got: unknown])[] = [
    [match.provider, request.provider],
    [match.endpoint, request.endpoint],
    [match.model, request.model],
    [match.stream, request.stream],
    [match.last_role, last?.role],
    [match.last_tool_call_id, last?.tool_call_id],
  ]
  const { last_text_contains = '', any_text_contains = '' } = match
  return (
    equal.every(([wanted, got]) => wanted === undefined || wanted === got) &&
    (last?.text ?? '').includes(last_text_contains) &&
    request.messages.some(({ text }) => text.includes(any_text_contains))
  )
}

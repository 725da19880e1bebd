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

/** Provider and endpoint of a path; `endpoint` is null for an unknown path. */
type Route = { provider: ProviderName; endpoint: Endpoint | null }

/** Returns the provider and endpoint of a path; unknown paths belong to OpenAI. */
export function routeOf(path: string): Route {
  const dialect = Object.values(dialects).find(({ base_path }) => path.startsWith(`${base_path}/`))
  if (!dialect) return { provider: 'openai', endpoint: null }
  const { provider } = dialect
  const rest = path.slice(dialect.base_path.length)
  if (rest === '/chat/completions') return { provider, endpoint: 'chat.completions' }
  const isLegacy = rest === '/completions' && dialect.legacy_completions
  return { provider, endpoint: isLegacy ? 'completions' : null }
}

/** Converts Node's flat list of raw headers to pairs of names and values. */
export function headerPairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[index * 2] ?? '',
    raw[index * 2 + 1] ?? '',
  ])
}

/** Largest body that is read; the connection of a larger one is closed. */
const body_bytes_max = 67_108_864

/** Reads the whole body; undefined when the client left or the body is too large. */
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

/** Returns the parsed request, or the error that refuses it before any step is matched. */
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

/** A running script, with the remaining uses of its steps. */
export class ScriptPlay {
  readonly script: Script
  readonly #left: Map<Step, number>

  constructor(script: Script) {
    this.script = script
    this.#left = new Map(script.steps.map((step) => [step, step.times ?? Infinity]))
  }

  /** Uses the first step that matches the request, or the plain echo. */
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

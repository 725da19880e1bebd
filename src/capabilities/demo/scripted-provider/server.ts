import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Problem } from '../../../kernel/problem.ts'
import { type Clock, systemClock } from '../../../kernel/time.ts'
import { dialects } from './dialects.ts'
import { playStep, sendError } from './play-step.ts'
import { type CompletionRequest, completionRequestFrom, type Endpoint } from './request.ts'
import {
  type ErrorReply,
  type Match,
  type ProviderName,
  plainStep,
  type Script,
  type ScriptInput,
  type Step,
  scriptFrom,
} from './script.ts'
import { type Seen, SeenLog, type SeenRequest } from './seen.ts'
import { openWire } from './wire.ts'

export type ScriptedProviderOptions = {
  /** Address to listen on. Default: loopback. */
  host?: string
  /** Port to listen on; 0 picks a free one. */
  port?: number
  script?: ScriptInput
  /** Serves `GET /_seen` and `POST /_script`, for a server in another process. */
  control?: boolean
  /** Maximum requests that `seen()` returns; older ones are only counted. */
  seen_requests_max?: number
  /** Maximum bytes kept of a request's body; further ones are only counted. */
  body_kept_bytes_max?: number
  clock?: Clock
}

export type ScriptedProvider = {
  /** The origin, without a slash at the end. */
  url: string
  /** Base URLs for an `openai` client or the proxy. */
  base_urls: Record<ProviderName, string>
  seen(): Seen
  /** Switches to another script from the next request on. Throws `invalid_request`. */
  script(next: ScriptInput): void
  /** Closes all connections, including those of open answers. */
  stop(): Promise<void>
}

/**
 * Starts a provider that answers chat completions by a script, in the forms of OpenAI and of the
 * OpenAI-compatible endpoints of Anthropic and Gemini. Throws `invalid_request` for an invalid
 * script.
 */
export async function startScriptedProvider(
  options: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> {
  const clock = options.clock ?? systemClock
  const log = new SeenLog({ requests_max: options.seen_requests_max ?? 1000 })
  const kept_bytes_max = options.body_kept_bytes_max ?? 1_048_576
  const state = { play: new ScriptPlay(scriptFrom(options.script ?? {})) }
  const script = (next: unknown) => {
    state.play = new ScriptPlay(scriptFrom(next))
  }
  const server = createServer({ keepAliveTimeout: 65_000 }, (incoming, response) => {
    if (options.control && isControlPath(incoming.url)) {
      void playControl(incoming, response, { seen: () => log.seen(), script })
      return
    }
    const context = { log, clock, play: state.play, kept_bytes_max }
    answer(incoming, response, context).catch((fault) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end(String(fault))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    base_urls: baseUrls(url),
    seen: () => log.seen(),
    script,
    stop: () =>
      new Promise((resolve) => {
        log.stopped(clock.now_ms())
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function baseUrls(url: string): Record<ProviderName, string> {
  return {
    openai: url + dialects.openai.base_path,
    anthropic: url + dialects.anthropic.base_path,
    gemini: url + dialects.gemini.base_path,
  }
}

type Context = { log: SeenLog; clock: Clock; play: ScriptPlay; kept_bytes_max: number }

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  { log, clock, play, kept_bytes_max }: Context,
): Promise<void> {
  const path = (incoming.url ?? '/').split('?')[0] ?? '/'
  const request = log.arrived({
    method: incoming.method ?? '',
    path,
    headers: headerPairs(incoming.rawHeaders),
    received_at_ms: clock.now_ms(),
  })
  const wire = openWire({ response, request, log, clock })
  const route = routeOf(path)
  request.provider = route.provider
  const whole = await bodyOf(incoming, request, kept_bytes_max)
  if (whole === undefined) return
  request.body_at_ms = clock.now_ms()
  const { repeatable } = play.script
  const context = {
    dialect: dialects[route.provider],
    seed: repeatable ? 1 : request.number,
    created_s: repeatable ? repeatable_created_s : Math.floor(clock.now_ms() / 1000),
  }
  const completion = completionOf(incoming, route, whole, play)
  if ('status' in completion) return sendError(wire, completion, context)
  return playStep(wire, completion, play.next(completion), context)
}

/** 2026-01-01T00:00:00Z */
const repeatable_created_s = 1_767_225_600

/** Whether a path belongs to the server's own control routes. */
function isControlPath(path: string | undefined): boolean {
  return path === '/_seen' || path === '/_script'
}

type Controlled = { seen(): Seen; script(next: unknown): void }

/**
 * Serves the control routes: `GET /_seen` answers the result of `seen()` with bodies in base64;
 * `POST /_script` takes a script and answers 204, or 400 with its fault.
 */
async function playControl(
  incoming: IncomingMessage,
  response: ServerResponse,
  controlled: Controlled,
): Promise<void> {
  if (incoming.url === '/_seen') {
    const seen = controlled.seen()
    const requests = seen.requests.map(({ body, ...request }) => ({
      ...request,
      body_base64: body.toString('base64'),
    }))
    return answerJson(response, 200, { ...seen, requests })
  }
  try {
    controlled.script(JSON.parse(await textOf(incoming)))
    response.writeHead(204).end()
  } catch (cause) {
    if (cause instanceof SyntaxError) answerJson(response, 400, { detail: cause.message })
    else if (cause instanceof Problem) answerJson(response, cause.status, { detail: cause.message })
    else response.destroy()
  }
}

const script_bytes_max = 16_777_216

async function textOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of incoming) {
    bytes += part.length
    if (bytes > script_bytes_max) throw new SyntaxError(`script: over ${script_bytes_max} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Provider and endpoint of a path; `endpoint` is null for an unknown path. */
type Route = { provider: ProviderName; endpoint: Endpoint | null }

/** Returns the provider and endpoint of a path; unknown paths belong to OpenAI. */
function routeOf(path: string): Route {
  const dialect = Object.values(dialects).find(({ base_path }) => path.startsWith(`${base_path}/`))
  if (!dialect) return { provider: 'openai', endpoint: null }
  const { provider } = dialect
  const rest = path.slice(dialect.base_path.length)
  if (rest === '/chat/completions') return { provider, endpoint: 'chat.completions' }
  const isLegacy = rest === '/completions' && dialect.legacy_completions
  return { provider, endpoint: isLegacy ? 'completions' : null }
}

/** Converts Node's flat list of raw headers to pairs of names and values. */
function headerPairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[index * 2] ?? '',
    raw[index * 2 + 1] ?? '',
  ])
}

/** Largest body that is read; the connection of a larger one is closed. */
const body_bytes_max = 67_108_864

/** Reads the whole body; undefined when the client left or the body is too large. */
async function bodyOf(
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
function completionOf(
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
class ScriptPlay {
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

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Problem } from '../../../kernel/problem.ts'
import { type Clock, systemClock } from '../../../kernel/time.ts'
import { dialects } from './dialects/registry.ts'
import { playStep, sendError } from './play-step.ts'
import { type ProviderName, type ScriptInput, scriptFrom } from './script.ts'
import { type Seen, SeenLog } from './seen.ts'
import { bodyOf, completionOf, headerPairs, routeOf, ScriptPlay } from './take-request.ts'
import { openWire } from './wire.ts'

export type ScriptedProviderOptions = {
  /** Address to listen on. Default: loopback. */
  host?: string
  /** Port to listen on; 0 picks a free one. */
  port?: number
  script?: ScriptInput
  /** Serves `GET /_seen` and `POST /_script`, for a server in another process. */
  control?: boolean
  /** Most requests that `seen()` returns; older ones are only counted. */
  seen_requests_max?: number
  /** Most bytes kept of a request's body; further ones are only counted. */
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

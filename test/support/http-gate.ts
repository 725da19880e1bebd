import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'

/** A request that the gate received. */
type GateRequest = { method: string; path: string; at_ms: number }
/** The gate's own answer. */
export type GateAnswer = { status: number; headers?: Record<string, string>; body?: string }
/** Decides which requests the gate answers itself; undefined forwards the request. */
type GateRule = (request: GateRequest) => GateAnswer | undefined | Promise<GateAnswer | undefined>

/**
 * A proxy in front of a server that sees each request and may answer it. Streams are forwarded as
 * streams.
 */
export type HttpGate = AsyncDisposable & {
  /** `http://127.0.0.1:<port>`, for any scheme of the server. */
  url: string
  /** All requests so far, including refused ones; a test may empty it. */
  requests: GateRequest[]
  /** Number of its own answers so far. */
  readonly refused: number
  /** Applies the rule to each request from now on; without a rule, all are forwarded. */
  rule(rule?: GateRule): void
}

const agent = new Agent({ rejectUnauthorized: false, keepAlive: true })
/** Default Retry-After of a refused request. */
const unreachable: GateAnswer = { status: 502, body: 'the server does not answer' }

/** Opens a gate in front of the server that the URL names; its certificate is not verified. */
export async function httpGate(target: string): Promise<HttpGate> {
  const requests: GateRequest[] = []
  let refused = 0
  let decide: GateRule = () => undefined
  const server = createServer(async (asked, answer) => {
    const request = { method: asked.method ?? '', path: asked.url ?? '', at_ms: Date.now() }
    requests.push(request)
    const refuse = ({ status, headers = {}, body = '' }: GateAnswer) => {
      refused += 1
      asked.resume()
      answer.writeHead(status, headers).end(body)
    }
    const own = await decide(request)
    if (own !== undefined) return refuse(own)
    const onward = forward(asked, new URL(request.path, target))
    onward.on('response', (far) => {
      answer.writeHead(far.statusCode ?? 502, far.headers)
      // A watch must be known as started before its first event.
      answer.flushHeaders()
      far.pipe(answer)
      far.on('error', () => answer.destroy())
    })
    onward.on('error', () => (answer.headersSent ? answer.destroy() : refuse(unreachable)))
    answer.on('close', () => onward.destroy())
  })
  // A watch sends nothing while nothing happens.
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get refused() {
      return refused
    },
    rule: (rule = () => undefined) => {
      decide = rule
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function forward(asked: IncomingMessage, url: URL) {
  const options = { method: asked.method, headers: { ...asked.headers, host: url.host } }
  const onward =
    url.protocol === 'https:' ? httpsRequest(url, { ...options, agent }) : httpRequest(url, options)
  asked.pipe(onward)
  return onward
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { sleep } from '../../../src/kernel/time.ts'
import { type AgentCase, type AskedModel, scriptedAnswer } from './scripted-agent.ts'

/** A request that came, with the answer that it got. */
export type Received = {
  method: string
  /** Path with its query. */
  path: string
  headers: Record<string, string>
  body: Buffer
  answer: Answer
  /** Number of the model call in its case; undefined for any other request. */
  call?: number
}

/** `body_to_proxy` is what the provider answers a proxy that asks for the usage of streams. */
type Answer = { status: number; content_type: string; body: string; body_to_proxy: string }

/** A server that plays a scripted model and takes OTLP, and keeps everything that it was sent. */
export type RecordingServer = AsyncDisposable & {
  url: string
  /** Begins a case: forgets the requests, and starts its script at the first call. */
  begin(agent: AgentCase): void
  received(): readonly Received[]
}

/**
 * The time that a model call takes; exports are made more often than that, so that a run needs
 * several batches.
 */
const call_ms = 120

/** Starts the server on a free port of this machine. */
export async function startRecordingServer(): Promise<RecordingServer> {
  let received: Received[] = []
  let agent: AgentCase = { paths: [], last: '' }
  let calls = 0
  const server = createServer(async (incoming, response) => {
    const request = await requestOf(incoming)
    const asked = modelOf(request)
    const call = asked && calls
    if (asked) calls += 1
    const answer = asked
      ? modelAnswer(asked, agent, call ?? 0)
      : { ...otherAnswer(request), body_to_proxy: '' }
    received.push({ ...request, answer, ...(call !== undefined && { call }) })
    if (asked) await sleep(call_ms)
    send(response, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    begin: (next) => {
      received = []
      agent = next
      calls = 0
    },
    received: () => received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function modelAnswer(asked: AskedModel, agent: AgentCase, at: number): Answer {
  const answer = scriptedAnswer(asked, agent, at)
  const body = { ...asked.body, stream_options: { include_usage: true } }
  const body_to_proxy = scriptedAnswer({ ...asked, body }, agent, at).body
  return { status: 200, ...answer, body_to_proxy }
}

type Request = Omit<Received, 'answer' | 'call'>

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const { method = '', url = '' } = incoming
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
  )
  const bytes = await buffer(incoming)
  const body = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
  return { method, path: url, headers, body }
}

/** Returns what a model call asks; undefined for another request. */
function modelOf({ method, path, body }: Request): AskedModel | undefined {
  if (method !== 'POST') return undefined
  const [plain = ''] = path.split('?', 1)
  const given = jsonOf(body)
  const streamed = given['stream'] === true
  if (plain.endsWith('/chat/completions')) return { format: 'chat', streamed, body: given }
  if (plain.endsWith('/responses')) return { format: 'responses', streamed, body: given }
  if (plain.endsWith('/messages')) return { format: 'messages', streamed, body: given }
  const generated = /:(stream)?generateContent$/i.exec(plain)
  if (generated === null) return undefined
  return { format: 'generate_content', streamed: generated[1] !== undefined, body: given }
}

function jsonOf(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString('utf8')) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** An export gets an empty answer, which says that everything was taken; anything else a 404. */
function otherAnswer({ path, headers }: Request): Omit<Answer, 'body_to_proxy'> {
  if (!/\/v1\/(traces|logs|metrics)$/.test(path)) {
    return {
      status: 404,
      content_type: 'application/json',
      body: '{"error":{"message":"no such path"}}',
    }
  }
  const isJson = (headers['content-type'] ?? '').startsWith('application/json')
  if (isJson) return { status: 200, content_type: 'application/json', body: '{}' }
  return { status: 200, content_type: 'application/x-protobuf', body: '' }
}

function send(response: ServerResponse, { status, content_type, body }: Answer): void {
  response.writeHead(status, { 'content-type': content_type }).end(body)
}

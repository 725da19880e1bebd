import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { WebSocket, WebSocketServer } from 'ws'

/** A provider of sockets of Responses. */
export type SocketProvider = AsyncDisposable & {
  base_urls: { openai: string }
  requests: IncomingMessage[]
  /** The messages that came, as text. */
  messages: string[]
  sockets: WebSocket[]
}

type Answer = (socket: WebSocket, message: string) => void

/** Starts a provider; `answer` is called for each message of a client. */
export async function socketProvider(
  answer: Answer = answerInFull,
  { status = 101 }: { status?: number } = {},
): Promise<SocketProvider> {
  const requests: IncomingMessage[] = []
  const messages: string[] = []
  const sockets: WebSocket[] = []
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    verifyClient: ({ req }, verified) => {
      requests.push(req)
      verified(status === 101, status, 'Refused')
    },
  })
  server.on('connection', (socket: WebSocket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer) => {
      messages.push(data.toString())
      answer(socket, data.toString())
    })
  })
  await once(server, 'listening')
  return {
    base_urls: { openai: `http://127.0.0.1:${server.address().port}/v1` },
    ...{ requests, messages, sockets },
    [Symbol.asyncDispose]: async () => {
      for (const socket of server.clients) socket.terminate()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** The events of a whole response, as the provider sends them. */
export function responseEvents(id: string, text: string): string[] {
  const response = {
    id,
    object: 'response',
    model: 'gpt-5-mini',
    status: 'in_progress',
    output: [],
  }
  const item = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  }
  const usage = {
    input_tokens: 11,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 16,
  }
  return [
    { type: 'response.created', sequence_number: 0, response },
    { type: 'response.output_text.delta', sequence_number: 1, output_index: 0, delta: text },
    {
      type: 'response.completed',
      sequence_number: 2,
      response: { ...response, status: 'completed', output: [item], usage },
    },
  ].map((event) => JSON.stringify(event))
}

function answerInFull(socket: WebSocket, message: string): void {
  const { type, stream_id } = JSON.parse(message)
  if (type !== 'response.create') return
  for (const event of responseEvents('resp_1', 'Hello')) {
    const { type: name, ...rest } = JSON.parse(event)
    socket.send(JSON.stringify({ type: name, ...rest, ...(stream_id && { stream_id }) }))
  }
}

/** A client of a socket, and what it got. */
export type SocketClient = {
  socket: WebSocket
  texts: string[]
  /** Resolves when `count` messages have come. */
  got(count: number): Promise<string[]>
  /** Resolves with the code and reason of the close frame; 1006 without one. */
  closed: Promise<{ code: number; reason: string }>
}

/** Opens a socket. Rejects with the status and body of a refusal. */
export async function openSocket(
  origin: string,
  headers: Record<string, string>,
  { path = '/v1/responses', protocols = [] as string[] } = {},
): Promise<SocketClient> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, protocols, { headers })
  const texts: string[] = []
  const waiting: (() => void)[] = []
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code: number, reason: Buffer) => resolve({ code, reason: String(reason) })),
  )
  socket.on('message', (data: Buffer) => {
    texts.push(data.toString())
    for (const wake of waiting.splice(0)) wake()
  })
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
    socket.on('unexpected-response', async (_request: unknown, answer: IncomingMessage) => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk as Buffer)
      reject(new RefusedSocket(answer.statusCode ?? 0, String(Buffer.concat(chunks))))
    })
  })
  const got = async (count: number): Promise<string[]> => {
    while (texts.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
    return texts
  }
  return { socket, texts, got, closed }
}

/** The answer of HTTP to a request for a socket. */
export class RefusedSocket extends Error {
  readonly status: number
  readonly body: string

  constructor(status: number, body: string) {
    super(`${status} ${body}`)
    this.status = status
    this.body = body
  }
}

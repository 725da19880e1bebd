import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

/**
 * A provider with minimal cost: prepared bytes over bare sockets. A body with `"stream":true` is
 * answered by 200 chunks, one per tick; any other by one JSON answer.
 */
export type MockProvider = { url: string; close(): void }

/** Chunks of a streamed answer, besides `[DONE]`. */
export const streamChunks = 200

const headEnd = Buffer.from('\r\n\r\n')
const lengthName = Buffer.from('ontent-')

export async function startMockProvider(tick_ms: number): Promise<MockProvider> {
  const streams = new Set<{ socket: Socket; sent: number }>()
  const timer = setInterval(() => {
    for (const stream of streams) {
      if (stream.socket.destroyed) streams.delete(stream)
      else if (stream.sent === streamChunks) {
        stream.socket.write(lastChunk)
        streams.delete(stream)
      } else {
        stream.sent += 1
        stream.socket.write(deltaChunk)
      }
    }
  }, tick_ms)
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined)
    onRequests(socket, (body) => {
      if (!body.includes('"stream":true')) socket.write(wholeAnswer)
      else {
        socket.write(streamStart)
        streams.add({ socket, sent: 1 })
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      clearInterval(timer)
      server.close()
    },
  }
}

/** Calls back with the body of each complete request on a connection. */
function onRequests(socket: Socket, take: (body: Buffer) => void): void {
  let parts: Buffer[] = []
  let bytes = 0
  let expected = -1
  let bodyFrom = 0
  socket.on('data', (part) => {
    parts.push(part)
    bytes += part.length
    if (expected === -1) {
      const all = parts.length === 1 ? part : Buffer.concat(parts)
      const end = all.indexOf(headEnd)
      if (end === -1) return
      bodyFrom = end + 4
      expected = bodyFrom + contentLength(all.subarray(0, end))
    }
    if (bytes < expected) return
    const all = parts.length === 1 ? part : Buffer.concat(parts)
    parts = []
    bytes = 0
    expected = -1
    take(all.subarray(bodyFrom))
  })
}

function contentLength(head: Buffer): number {
  if (!head.includes(lengthName)) throw new Error('the mock takes only bodies with a length')
  return Number(/content-length: *(\d+)/i.exec(head.toString('latin1'))?.[1])
}

const commonHead =
  'date: Sat, 21 Nov 2026 08:00:00 GMT\r\nopenai-organization: bench\r\nopenai-processing-ms: 4\r\n' +
  'openai-version: 2020-10-01\r\nx-request-id: req_0123456789abcdef0123456789abcdef\r\n' +
  'x-ratelimit-limit-requests: 10000\r\nx-ratelimit-remaining-requests: 9999\r\n'

const wholeBody = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'bench-1',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'All is well. '.repeat(40), refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 400, completion_tokens: 120, total_tokens: 520 },
})
const wholeAnswer = Buffer.from(
  `HTTP/1.1 200 OK\r\n${commonHead}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(wholeBody)}\r\n\r\n${wholeBody}`,
)

const delta = `data: ${JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'bench-1',
  choices: [{ index: 0, delta: { content: ' well' }, logprobs: null, finish_reason: null }],
  usage: null,
})}\n\n`
const deltaChunk = Buffer.from(`${delta.length.toString(16)}\r\n${delta}\r\n`)
const usage = `data: ${JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'bench-1',
  choices: [],
  usage: { prompt_tokens: 400, completion_tokens: 200, total_tokens: 600 },
})}\n\ndata: [DONE]\n\n`
const lastChunk = Buffer.from(`${usage.length.toString(16)}\r\n${usage}\r\n0\r\n\r\n`)
const streamStart = Buffer.concat([
  Buffer.from(
    `HTTP/1.1 200 OK\r\n${commonHead}content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n`,
  ),
  deltaChunk,
])

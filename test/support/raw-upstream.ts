import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

/** A provider of raw bytes: the test decides what each connection gets. */
export type RawUpstream = AsyncDisposable & {
  base_urls: Record<'openai', string>
  /** Bytes received, over all connections. */
  received(): string
  connections(): number
}

/** Calls `answer` for each complete request with `content-length` on a connection. */
export async function rawUpstream(
  answer: (socket: Socket, number: number) => void,
): Promise<RawUpstream> {
  const sockets = new Set<Socket>()
  let received = ''
  let requests = 0
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    let pending = ''
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      pending += bytes.toString('latin1')
      const head = pending.indexOf('\r\n\r\n')
      const length = /content-length: (\d+)/i.exec(pending)?.[1]
      if (head === -1 || pending.length < head + 4 + Number(length ?? 0)) return
      pending = ''
      requests += 1
      answer(socket, requests)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    base_urls: { openai: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` },
    received: () => received,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** The head of a chunked event stream. */
export const streamHead =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

/** Bytes as one chunk of the chunked encoding. */
export function chunk(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data)
  const size = Buffer.from(`${bytes.length.toString(16)}\r\n`)
  return Buffer.concat([size, bytes, Buffer.from('\r\n')])
}

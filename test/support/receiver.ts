import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as a receiver got it. */
export type Received = {
  path: string
  headers: IncomingHttpHeaders
  /** The body as UTF-8, and as bytes. */
  body: string
  bytes: Buffer
}

/** A server that receives notifications, and answers as a test says. */
export type Receiver = {
  url: string
  port: number
  received: Received[]
  /** Answers all following requests; 200 by default. */
  answer: (response: ServerResponse, request: Received) => unknown
  close(): Promise<void>
}

/** Starts a receiver on loopback. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url = '', headers } = request
      const bytes = Buffer.concat(chunks)
      const received = { path: url, headers, body: bytes.toString(), bytes }
      receiver.received.push(received)
      receiver.answer(response, received)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    ...{ url: `http://127.0.0.1:${port}`, port, received: [] },
    answer: (response) => response.end('ok'),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

/** Answers with a status. */
export function status(code: number, headers: Record<string, string> = {}, body = '') {
  return (response: ServerResponse) => response.writeHead(code, headers).end(body)
}

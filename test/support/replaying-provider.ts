import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request as the provider got it. */
type ReplayedRequest = {
  method: string
  /** Path and query. */
  url: string
  rawHeaders: string[]
  headers: IncomingMessage['headers']
  body: Buffer
}

/** An answer of the provider; `pieces` are written one by one. */
export type ReplayedAnswer = {
  status?: number
  headers?: Record<string, string>
  pieces: readonly (string | Buffer)[]
  /** Closes the connection after the last piece instead of ending the answer. */
  cut?: true
  /** Holds back the end of the answer. */
  until?: Promise<void>
}

export type ReplayingProvider = AsyncDisposable & {
  base_urls: Record<'openai' | 'anthropic' | 'gemini', string>
  /** The address without a path. */
  origin: string
  requests: ReplayedRequest[]
  /** Sets the answer of the requests that follow. */
  answer(next: ReplayedAnswer | ((request: ReplayedRequest) => ReplayedAnswer)): void
}

/** A provider that answers with given bytes, whatever it is asked, and keeps what it was asked. */
export async function replayingProvider(): Promise<ReplayingProvider> {
  const requests: ReplayedRequest[] = []
  let answer: (request: ReplayedRequest) => ReplayedAnswer = () => json({})
  const server = createServer(async (incoming, response) => {
    const { method = '', url = '', rawHeaders, headers } = incoming
    const request = { method, url, rawHeaders, headers, body: await buffer(incoming) }
    requests.push(request)
    const { status = 200, headers: sent = {}, pieces, cut, until } = answer(request)
    response.writeHead(status, sent)
    for (const piece of pieces) {
      response.write(piece)
      await new Promise(setImmediate)
    }
    await until
    if (cut) response.destroy()
    else response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    base_urls: {
      openai: `${url}/openai/v1`,
      anthropic: `${url}/anthropic/v1`,
      gemini: `${url}/gemini/v1beta/openai`,
    },
    origin: url,
    requests,
    answer: (next) => {
      answer = typeof next === 'function' ? next : () => next
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** A whole answer in JSON. */
export function json(body: unknown, status = 200): ReplayedAnswer {
  const headers = { 'content-type': 'application/json' }
  return { status, headers, pieces: [typeof body === 'string' ? body : JSON.stringify(body)] }
}

/** An answer as an event stream, in pieces of `piece_bytes` that cut events anywhere. */
export function stream(body: string, piece_bytes = 997): ReplayedAnswer {
  const bytes = Buffer.from(body)
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += piece_bytes) {
    pieces.push(bytes.subarray(at, at + piece_bytes))
  }
  return { headers: { 'content-type': 'text/event-stream' }, pieces }
}

import { type IncomingMessage, request } from 'node:http'

/** A raw HTTP answer: each read separately, and how it ended. */
export type RawAnswer = {
  status: number
  headers: IncomingMessage['headers']
  reads: Buffer[]
  body: Buffer
  /** False if the connection closed before the answer's end. */
  complete: boolean
}

export type RawPost = {
  /** The whole answer, even if it was cut; rejects without headers. */
  answer: Promise<RawAnswer>
  /** Resolves with the first bytes of the body. */
  firstBytes: Promise<Buffer>
  /** Resolves with the headers. */
  head: Promise<IncomingMessage>
  /** Closes the connection. */
  leave(): void
}

/** Posts with node:http, so that no library hides the wire format. */
export function rawPost(
  url: string,
  body: unknown,
  headers: Record<string, string | string[]> = {},
  method = 'POST',
): RawPost {
  const bytes = typeof body === 'string' ? body : JSON.stringify(body)
  const outgoing = request(url, {
    method,
    agent: false,
    headers: { 'content-type': 'application/json', ...headers },
  })
  const head = Promise.withResolvers<IncomingMessage>()
  const firstBytes = Promise.withResolvers<Buffer>()
  const answer = Promise.withResolvers<RawAnswer>()
  for (const { promise } of [head, firstBytes, answer]) promise.catch(() => undefined)
  outgoing.on('response', (incoming) => {
    head.resolve(incoming)
    const reads: Buffer[] = []
    incoming.on('data', (read: Buffer) => {
      firstBytes.resolve(read)
      reads.push(read)
    })
    incoming.on('error', () => undefined)
    incoming.on('close', () => {
      firstBytes.reject(new Error('the answer had no body'))
      answer.resolve({
        status: incoming.statusCode ?? 0,
        headers: incoming.headers,
        reads,
        body: Buffer.concat(reads),
        complete: incoming.complete,
      })
    })
  })
  outgoing.on('error', (cause) => {
    for (const { reject } of [head, firstBytes, answer]) reject(cause)
  })
  // Node sends no length with the body of a deletion, so that it would be read as another request.
  outgoing.end(method === 'GET' || method === 'DELETE' ? undefined : bytes)
  return {
    answer: answer.promise,
    firstBytes: firstBytes.promise,
    head: head.promise,
    leave: () => outgoing.destroy(),
  }
}

import { type IncomingMessage, request } from 'node:http'

/** An answer as it came off the wire: each read apart, and how it ended. */
export type RawAnswer = {
  status: number
  headers: IncomingMessage['headers']
  reads: Buffer[]
  body: Buffer
  /** False when the connection closed before the answer's end. */
  complete: boolean
}

export type RawPost = {
  /** The whole answer, also one that was cut; rejects when there were no headers. */
  answer: Promise<RawAnswer>
  /** Resolves with the first bytes of the body. */
  firstBytes: Promise<Buffer>
  /** Resolves with the headers. */
  head: Promise<IncomingMessage>
  /** Closes the connection. */
  leave(): void
}

/** Posts with node:http, so that nothing stands between a test and the wire. */
export function rawPost(
  url: string,
  body: unknown,
  headers: Record<string, string | string[]> = {},
): RawPost {
  const bytes = typeof body === 'string' ? body : JSON.stringify(body)
  const outgoing = request(url, {
    method: 'POST',
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
  outgoing.end(bytes)
  return {
    answer: answer.promise,
    firstBytes: firstBytes.promise,
    head: head.promise,
    leave: () => outgoing.destroy(),
  }
}

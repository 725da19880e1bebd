import type { IncomingMessage, ServerResponse } from 'node:http'

/** A client that was refused gets this long to send the rest and read the answer. */
const wait_ms = 2_000

/**
 * Ends an answer that was written whole while the client may still be sending. Closing at once
 * would reset the connection and take the answer from the client, so the rest of the body is read
 * and thrown away, up to `bytes_max` bytes and two seconds; then the connection is closed.
 */
export function discardRest(
  request: IncomingMessage,
  response: ServerResponse,
  bytes_max: number,
): void {
  let discarded = 0
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, wait_ms).unref()
  response.once('close', () => clearTimeout(timer))
  if (request.complete) {
    end()
    return
  }
  request.once('end', end)
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > bytes_max) end()
  })
  request.resume()
}

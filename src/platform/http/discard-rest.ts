import type { IncomingMessage, ServerResponse } from 'node:http'

/** Time for a rejected client to send the rest of its body and to read the response. */
const wait_ms = 2_000

/**
 * Ends a complete response while the client may still be sending its body. Closing at once would
 * reset the connection before the client reads the response. So the rest of the body is read and
 * discarded, up to `bytes_max` bytes and two seconds, and then the connection is closed.
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

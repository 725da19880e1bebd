import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import type { Exchange } from '../../../../model/exchange.ts'
import { compressedFrameOf, exchangeParts } from '../../../../model/exchange-frame.ts'

const compress = promisify(zstdCompress)

/**
 * The compressed frame of one large exchange, made off the event loop. What does not fit into
 * `frame_bytes_max` goes: the request first, then the answer, and never the facts. Undefined when
 * the facts alone don't fit.
 */
export async function fittingFrame(
  exchange: Exchange,
  frame_bytes_max: number,
): Promise<Buffer | undefined> {
  const none = Buffer.alloc(0)
  const facts = { ...exchange.facts, content_state: 'dropped' as const }
  const attempts: Exchange[] = [
    exchange,
    { ...exchange, facts, request: none },
    { facts, request: none, response: none },
  ]
  for (const attempt of attempts) {
    const frame = compressedFrameOf(await compress(Buffer.concat(exchangeParts(attempt))))
    if (frame.length <= frame_bytes_max) return frame
  }
  return undefined
}

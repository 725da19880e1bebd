import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import type { Exchange } from '../../../../model/exchange.ts'
import {
  compressedFrameOf,
  exchangeOverhead_bytes,
  exchangeParts,
  frameHeader_bytes,
  startFrame,
  writeExchange,
} from '../../../../model/exchange-frame.ts'
import type { FramePool } from '../../../../platform/queue/index.ts'
import type { LedgerRequest } from '../../../ledger/index.ts'

/** An exchange with its facts as JSON text, and the bytes it takes in a frame. */
export type PackedExchange = Omit<Exchange, 'facts'> & { facts: string; bytes: number }

/** Makes the text of an exchange's facts and counts its bytes. */
export function packed({ facts, request, response }: Exchange): PackedExchange {
  const text = JSON.stringify(facts)
  const bytes = exchangeOverhead_bytes + Buffer.byteLength(text) + request.length + response.length
  return { facts: text, request, response, bytes }
}

/** A frame that is being filled, in a buffer of the pool. */
export class OpenFrame {
  readonly project_id: string
  /** The calls in it, as the ledger knows them. */
  readonly calls: LedgerRequest[] = []
  readonly #buffer: Buffer
  #end: number

  constructor(project_id: string, buffer: Buffer) {
    this.project_id = project_id
    this.#buffer = buffer
    this.#end = startFrame(buffer)
  }

  /** What the exchanges take, without the frame's own header. */
  get held_bytes(): number {
    return this.#end - frameHeader_bytes
  }

  hasRoomFor(bytes: number, frame_bytes_max: number): boolean {
    return this.#end + bytes <= frame_bytes_max
  }

  /** Copies an exchange in; there must be room for it. */
  append(exchange: PackedExchange, call: LedgerRequest): void {
    this.#end = writeExchange(this.#buffer, this.#end, exchange)
    this.calls.push(call)
  }

  /**
   * The frame to publish, and its buffer for when that is done. A frame that is mostly empty is
   * copied and its buffer free at once, so that small frames that wait don't hold large buffers.
   */
  seal(pool: FramePool): { data: Buffer; buffer: Buffer | undefined } {
    const data = this.#buffer.subarray(0, this.#end)
    if (data.length * 2 > this.#buffer.length) return { data, buffer: this.#buffer }
    const copy = Buffer.from(data)
    pool.give(this.#buffer)
    return { data: copy, buffer: undefined }
  }
}

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

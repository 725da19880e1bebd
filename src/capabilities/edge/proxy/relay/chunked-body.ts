import type { ServerResponse } from 'node:http'

/** A longer piece is written beside its frame instead of copied into it. */
const copied_bytes_max = 16 * 1024
const lineEnd = Buffer.from('\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')

/**
 * Writes the body of an answer whose head was written. Where the body goes out in chunks, it
 * frames them itself, each in one piece: node:http hands four pieces a chunk to the socket, which
 * costs more than all else that a streamed chunk takes.
 */
export class ChunkedBody {
  readonly #response: ServerResponse
  readonly #framed: boolean

  constructor(response: ServerResponse) {
    this.#response = response
    this.#framed = response.chunkedEncoding
    if (this.#framed) response.chunkedEncoding = false
  }

  /** False when the client is slower than the provider. */
  write(bytes: Buffer): boolean {
    if (!this.#framed) return this.#response.write(bytes)
    if (bytes.length === 0) return true
    if (bytes.length <= copied_bytes_max) return this.#response.write(chunkOf(bytes, false))
    this.#response.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
    this.#response.write(bytes)
    return this.#response.write(lineEnd)
  }

  end(bytes: Buffer | undefined): void {
    if (!this.#framed) {
      if (bytes) this.#endWhole(bytes)
      else this.#response.end()
    } else if (bytes && bytes.length > 0) this.#response.end(chunkOf(bytes, true))
    else this.#response.end(lastChunk)
  }

  /** As Latin-1 text, node:http sends bytes in one piece with the head; as a buffer, in two. */
  #endWhole(bytes: Buffer): void {
    if (bytes.length > copied_bytes_max) this.#response.end(bytes)
    else this.#response.end(bytes.toString('latin1'), 'latin1')
  }
}

/** Bytes as one chunk of the chunked encoding (RFC 9112, 7.1), with the last chunk if asked. */
function chunkOf(bytes: Buffer, isLast: boolean): Buffer {
  const size = bytes.length.toString(16)
  const from = size.length + 2
  const until = from + bytes.length
  const chunk = Buffer.allocUnsafe(until + (isLast ? 7 : 2))
  chunk.write(size, 0, 'latin1')
  chunk[from - 2] = 0x0d
  chunk[from - 1] = 0x0a
  chunk.set(bytes, from)
  chunk[until] = 0x0d
  chunk[until + 1] = 0x0a
  if (isLast) chunk.set(lastChunk, until + 2)
  return chunk
}

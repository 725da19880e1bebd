import { zstdDecompressSync } from 'node:zlib'
import type { Exchange, ExchangeFacts } from './exchange.ts'

/**
 * Version of exchange frames. A frame is one queue message with many exchanges:
 * `[version u8][compression u8]`, then, compressed or not, for each exchange
 * `[facts u32le][request u32le][response u32le]` (lengths in bytes) and these three parts.
 * The facts are JSON; the bodies are the raw bytes of the wire.
 */
const frameVersion = 1
const compressionNone = 0
const compressionZstd = 1
/** Bytes before the first exchange: version and compression. */
export const frameHeaderBytes = 2
const exchangeHeaderBytes = 12

/** Overhead of one exchange in a frame, beside its parts. */
export const exchangeOverheadBytes = exchangeHeaderBytes

/** Returns the parts of an exchange in a frame, not joined: the hot path joins all parts once. */
export function exchangeParts(exchange: Exchange): Uint8Array[] {
  const facts = Buffer.from(JSON.stringify(exchange.facts))
  const header = Buffer.allocUnsafe(exchangeHeaderBytes)
  header.writeUInt32LE(facts.length, 0)
  header.writeUInt32LE(exchange.request.length, 4)
  header.writeUInt32LE(exchange.response.length, 8)
  return [header, facts, exchange.request, exchange.response]
}

/** Joins the parts of `exchangeParts` to a frame. */
export function frameOf(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from([frameVersion, compressionNone]), ...parts])
}

/** Writes the frame header to the buffer. Returns the offset of the first exchange. */
export function startFrame(frame: Buffer): number {
  frame[0] = frameVersion
  frame[1] = compressionNone
  return frameHeaderBytes
}

/**
 * Writes an exchange, with its facts as JSON text, at offset `at` of a started frame. The frame
 * must have room for `exchangeOverheadBytes` and the parts. Returns the end offset. For the hot
 * path, which reuses the buffers of frames.
 */
export function writeExchange(
  frame: Buffer,
  at: number,
  exchange: { facts: string; request: Uint8Array; response: Uint8Array },
): number {
  const { facts, request, response } = exchange
  const factsAt = at + exchangeHeaderBytes
  const requestAt = factsAt + frame.write(facts, factsAt)
  const responseAt = requestAt + request.length
  frame.writeUInt32LE(requestAt - factsAt, at)
  frame.writeUInt32LE(request.length, at + 4)
  frame.writeUInt32LE(response.length, at + 8)
  frame.set(request, requestAt)
  frame.set(response, responseAt)
  return responseAt + response.length
}

/** Builds a frame of exchanges that are already compressed with zstd (off the event loop). */
export function compressedFrameOf(compressed: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([frameVersion, compressionZstd]), compressed])
}

/**
 * Reads a frame. `decompressed_bytes_max` bounds the size of the decompressed frame. Throws
 * MalformedFrame.
 */
export function decodeFrame(frame: Uint8Array, decompressed_bytes_max: number): Exchange[] {
  const body = frameBody(frame, decompressed_bytes_max)
  const exchanges: Exchange[] = []
  let at = 0
  while (at < body.length) {
    if (at + exchangeHeaderBytes > body.length) throw new MalformedFrame('the frame ends early')
    const factsEnd = at + exchangeHeaderBytes + body.readUInt32LE(at)
    const requestEnd = factsEnd + body.readUInt32LE(at + 4)
    const responseEnd = requestEnd + body.readUInt32LE(at + 8)
    if (responseEnd > body.length) throw new MalformedFrame('an exchange is longer than its frame')
    exchanges.push({
      facts: parseFacts(body.subarray(at + exchangeHeaderBytes, factsEnd)),
      request: body.subarray(factsEnd, requestEnd),
      response: body.subarray(requestEnd, responseEnd),
    })
    at = responseEnd
  }
  return exchanges
}

/** The bytes are not a valid frame of a supported version. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame'
}

function frameBody(frame: Uint8Array, decompressed_bytes_max: number): Buffer {
  const [version, compression] = frame
  if (version !== frameVersion) {
    throw new MalformedFrame(`frame version ${version}, expected ${frameVersion}`)
  }
  const body = frame.subarray(frameHeaderBytes)
  if (compression === compressionNone) return Buffer.from(body.buffer, body.byteOffset, body.length)
  if (compression !== compressionZstd) throw new MalformedFrame(`compression ${compression}`)
  try {
    return zstdDecompressSync(body, { maxOutputLength: decompressed_bytes_max })
  } catch (cause) {
    throw new MalformedFrame('the frame does not decompress', { cause })
  }
}

function parseFacts(bytes: Uint8Array): ExchangeFacts {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  } catch (cause) {
    throw new MalformedFrame('the facts of an exchange are not JSON', { cause })
  }
}

import { zstdDecompressSync } from 'node:zlib'
import type { Exchange, ExchangeFacts } from './exchange.ts'

/**
 * A frame is one queue message that carries many exchanges:
 * `[version u8][compression u8]` and then, compressed or not, for each exchange
 * `[facts u32le][request u32le][response u32le]` (lengths in bytes) and those three parts.
 * Facts are JSON; the bodies are the raw bytes of the wire.
 */
export const frameVersion = 1
const compressionNone = 0
const compressionZstd = 1
/** Bytes before the first exchange: version and compression. */
export const frameHeader_bytes = 2
const exchangeHeader_bytes = 12

/** Bytes that one exchange takes in a frame, beside its parts. */
export const exchangeOverhead_bytes = exchangeHeader_bytes

/** The parts of one exchange as they stand in a frame, not joined yet: the hot path joins once. */
export function exchangeParts(exchange: Exchange): Uint8Array[] {
  const facts = Buffer.from(JSON.stringify(exchange.facts))
  const header = Buffer.allocUnsafe(exchangeHeader_bytes)
  header.writeUInt32LE(facts.length, 0)
  header.writeUInt32LE(exchange.request.length, 4)
  header.writeUInt32LE(exchange.response.length, 8)
  return [header, facts, exchange.request, exchange.response]
}

/** Joins parts of `exchangeParts` to a frame. */
export function frameOf(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from([frameVersion, compressionNone]), ...parts])
}

/** Starts a frame in this buffer. Returns where its first exchange goes. */
export function startFrame(frame: Buffer): number {
  frame[0] = frameVersion
  frame[1] = compressionNone
  return frameHeader_bytes
}

/**
 * Writes an exchange, its facts as JSON text, at `at` into a started frame that has room for it:
 * `exchangeOverhead_bytes` and its parts. Returns where it ends. For the hot path, which keeps
 * frames in buffers that are used again.
 */
export function writeExchange(
  frame: Buffer,
  at: number,
  exchange: { facts: string; request: Uint8Array; response: Uint8Array },
): number {
  const { facts, request, response } = exchange
  const factsAt = at + exchangeHeader_bytes
  const requestAt = factsAt + frame.write(facts, factsAt)
  const responseAt = requestAt + request.length
  frame.writeUInt32LE(requestAt - factsAt, at)
  frame.writeUInt32LE(request.length, at + 4)
  frame.writeUInt32LE(response.length, at + 8)
  frame.set(request, requestAt)
  frame.set(response, responseAt)
  return responseAt + response.length
}

/** The frame whose exchanges were compressed with zstd beforehand (off the event loop). */
export function compressedFrameOf(compressed: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([frameVersion, compressionZstd]), compressed])
}

/**
 * Reads a frame. Throws MalformedFrame when it is not one; `decompressed_bytes_max` bounds what a
 * compressed frame may grow to.
 */
export function decodeFrame(frame: Uint8Array, decompressed_bytes_max: number): Exchange[] {
  const body = frameBody(frame, decompressed_bytes_max)
  const exchanges: Exchange[] = []
  let at = 0
  while (at < body.length) {
    if (at + exchangeHeader_bytes > body.length) throw new MalformedFrame('the frame ends early')
    const factsEnd = at + exchangeHeader_bytes + body.readUInt32LE(at)
    const requestEnd = factsEnd + body.readUInt32LE(at + 4)
    const responseEnd = requestEnd + body.readUInt32LE(at + 8)
    if (responseEnd > body.length) throw new MalformedFrame('an exchange is longer than its frame')
    exchanges.push({
      facts: factsFrom(body.subarray(at + exchangeHeader_bytes, factsEnd)),
      request: body.subarray(factsEnd, requestEnd),
      response: body.subarray(requestEnd, responseEnd),
    })
    at = responseEnd
  }
  return exchanges
}

/** The bytes are not a frame of a version that this code reads. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame'
}

function frameBody(frame: Uint8Array, decompressed_bytes_max: number): Buffer {
  const [version, compression] = frame
  if (version !== frameVersion) {
    throw new MalformedFrame(`frame version ${version}, expected ${frameVersion}`)
  }
  const body = frame.subarray(frameHeader_bytes)
  if (compression === compressionNone) return Buffer.from(body.buffer, body.byteOffset, body.length)
  if (compression !== compressionZstd) throw new MalformedFrame(`compression ${compression}`)
  try {
    return zstdDecompressSync(body, { maxOutputLength: decompressed_bytes_max })
  } catch (cause) {
    throw new MalformedFrame('the frame does not decompress', { cause })
  }
}

function factsFrom(bytes: Uint8Array): ExchangeFacts {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  } catch (cause) {
    throw new MalformedFrame('the facts of an exchange are no JSON', { cause })
  }
}

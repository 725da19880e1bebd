import { createGunzip, gunzipSync } from 'node:zlib'
import { problem } from '../../../../kernel/problem.ts'
import { type BodyBytes, tooLarge } from './inflight-bytes.ts'

/** Bodies up to this size are unpacked at once, which costs less than the way to a thread. */
const atOncePacked_bytes = 64 * 1024
/** A small body that grows beyond this is unpacked in pieces after all. */
const atOnceUnpacked_bytes = 1024 * 1024
/** Unpacked at a time by a thread. */
const piece_bytes = 128 * 1024

/**
 * Unpacks a gzip body. Throws `body_too_large` as soon as more than `bytes_max` came out of it,
 * `overloaded` when there is no room for that, `invalid_request` when it is broken or cut off.
 */
export async function unpack(packed: Buffer, bytes_max: number, held: BodyBytes): Promise<Buffer> {
  const isSmall = packed.length <= atOncePacked_bytes && toldLength(packed) <= atOnceUnpacked_bytes
  const atOnce = isSmall ? unpackAtOnce(packed, bytes_max) : undefined
  if (atOnce === undefined) return unpackInPieces(packed, bytes_max, held)
  held.take(atOnce.length)
  return atOnce
}

/** What the trailer says (RFC 1952, ISIZE): not to be relied on, but it spares unpacking twice. */
function toldLength(packed: Buffer): number {
  return packed.length < 4 ? 0 : packed.readUInt32LE(packed.length - 4)
}

/** Undefined when it is too large for that; not to know better is left to the other way. */
function unpackAtOnce(packed: Buffer, bytes_max: number): Buffer | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: Math.min(bytes_max, atOnceUnpacked_bytes) })
  } catch (cause) {
    if (codeOf(cause) === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw notGzip(cause)
  }
}

async function unpackInPieces(packed: Buffer, bytes_max: number, held: BodyBytes): Promise<Buffer> {
  const gunzip = createGunzip({ chunkSize: piece_bytes })
  gunzip.end(packed)
  const pieces: Buffer[] = []
  let unpacked = 0
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      unpacked += piece.length
      if (unpacked > bytes_max) throw tooLarge(bytes_max)
      held.take(piece.length)
      pieces.push(piece)
    }
  } catch (cause) {
    if (codeOf(cause)?.startsWith('Z_')) throw notGzip(cause)
    throw cause
  }
  return held.joined(pieces, unpacked)
}

function notGzip(cause: unknown): Error {
  return problem('invalid_request', { detail: 'the body is no gzip, or was cut off', cause })
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

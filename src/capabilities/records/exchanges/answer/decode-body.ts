import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'

/** A decoded body; `fault` says why decoding failed, '' when it succeeded. */
export type DecodedBody = { bytes: Uint8Array; fault: string }

/** Most stacked encodings; RFC 9110 allows any number, but more do not occur. */
const encodings_max = 3

/**
 * Decodes the `content-encoding` of a body, which may be cut short: the part before the cut is
 * decoded. A body that is broken or decodes to more than `bytes_max` gives no bytes and a fault.
 */
export function decodeBody(body: Uint8Array, encoding: string, bytes_max: number): DecodedBody {
  if (encoding === '' || body.length === 0) return { bytes: body, fault: '' }
  const names = encoding.toLowerCase().split(',', encodings_max + 1)
  if (names.length > encodings_max) return failed(`content-encoding "${encoding.slice(0, 80)}"`)
  let bytes = body
  for (const name of names.toReversed()) {
    const decode = decoders.get(name.trim())
    if (decode === undefined) return failed(`content-encoding "${name.trim().slice(0, 40)}"`)
    try {
      bytes = decode(bytes, bytes_max)
    } catch (error) {
      return failed(`${name.trim()}: ${error instanceof Error ? error.message : 'unreadable'}`)
    }
  }
  return { bytes, fault: '' }
}

function failed(fault: string): DecodedBody {
  return { bytes: new Uint8Array(0), fault }
}

type Decode = (bytes: Uint8Array, bytes_max: number) => Uint8Array

/** Flushing at the end, instead of finishing, also decodes a body that is cut. */
const zlibFlush = constants.Z_SYNC_FLUSH

const gunzip: Decode = (bytes, maxOutputLength) =>
  gunzipSync(bytes, { maxOutputLength, finishFlush: zlibFlush })

/** `deflate` means the zlib format; some servers send raw deflate. */
const inflate: Decode = (bytes, maxOutputLength) => {
  const [method = 0, check = 0] = bytes
  const isZlib = (method & 0x0f) === 8 && ((method << 8) | check) % 31 === 0
  const options = { maxOutputLength, finishFlush: zlibFlush }
  return isZlib ? inflateSync(bytes, options) : inflateRawSync(bytes, options)
}

const decoders = new Map<string, Decode>([
  ['identity', (bytes) => bytes],
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  [
    'br',
    (bytes, maxOutputLength) =>
      brotliDecompressSync(bytes, {
        maxOutputLength,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      }),
  ],
  [
    'zstd',
    (bytes, maxOutputLength) =>
      zstdDecompressSync(bytes, { maxOutputLength, finishFlush: constants.ZSTD_e_flush }),
  ],
])

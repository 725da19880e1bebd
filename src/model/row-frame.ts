import { zstdDecompressSync } from 'node:zlib'
import { MalformedFrame } from './exchange-frame.ts'
import { type IngestPath, ingestPaths, type RecordCounts } from './ingest-records.ts'

/**
 * Version of row frames. A row frame is one queue message with encoded rows of one project:
 * `[version u8 = 2][compression u8][row format u16][rows_bytes u32]`, then `rows_bytes` of rows,
 * then the trailer as JSON. The rows, compressed or not, are a sequence of `[kind u8][length
 * u32][row]`. Numbers are little-endian. A row is RowBinary of the columns of the row format.
 * Frames of exchanges have version 1 in their first byte.
 */
const rowFrameVersion = 2
/** Size of the header of a frame. */
export const rowFrameHeaderBytes = 8
/** Size of the header of each row: its kind and its length. */
export const rowHeaderBytes = 5

/** Kinds of rows. The byte of a kind in a frame is its index here plus 1. */
export const rowKinds = ['observations', 'traces', 'events', 'links', 'correlations'] as const
export type RowKind = (typeof rowKinds)[number]

/**
 * The part of one request in a message. The rows of a receipt are contiguous, and receipts are in
 * the order of their rows.
 */
export type FrameReceipt = {
  ingest_request_id: string
  path: IngestPath
  received_at_ms: number
  /** Items of the request in these rows; see IngestRequest. */
  items: number
  /** Rows of the receipt; the sum of `records`. */
  rows: number
  records: RecordCounts
  /** Items with masked content, of the whole request; set on its first message. */
  masked: number
  /** Items that the edge rejected, by reason, of the whole request; set on its first message. */
  rejected: Readonly<Record<string, number>>
}

/** `start` and `end` are offsets in the frame's `bytes`; `receipt` is an index in `receipts`. */
type RowVisitor = (kind: RowKind, start: number, end: number, receipt: number) => void

export type RowFrame = {
  project_id: string
  row_format: number
  receipts: FrameReceipt[]
  /** Rows with their headers; a view of the message unless it is compressed. */
  bytes: Buffer
  /** Visits the rows in order. */
  eachRow(visit: RowVisitor): void
}

const compressionNone = 0
const compressionZstd = 1

/** Builds the header of a frame with `rows_bytes` of rows, compressed or not. */
export function rowFrameHeader(fields: {
  compressed: boolean
  row_format: number
  rows_bytes: number
}): Buffer {
  const header = Buffer.allocUnsafe(rowFrameHeaderBytes)
  header[0] = rowFrameVersion
  header[1] = fields.compressed ? compressionZstd : compressionNone
  header.writeUInt16LE(fields.row_format, 2)
  header.writeUInt32LE(fields.rows_bytes, 4)
  return header
}

/** Returns whether a message is a row frame. Does not check its content. */
export function isRowFrame(data: Uint8Array): boolean {
  return data[0] === rowFrameVersion
}

/**
 * Reads a frame and locates its rows, without decoding them. `decompressed_bytes_max` bounds the
 * size of the decompressed rows. Throws MalformedFrame.
 */
export function decodeRowFrame(data: Uint8Array, decompressed_bytes_max: number): RowFrame {
  const frame = Buffer.from(data.buffer, data.byteOffset, data.length)
  if (!isRowFrame(frame)) throw new MalformedFrame(`frame version ${frame[0]}, expected 2`)
  if (frame.length < rowFrameHeaderBytes) throw new MalformedFrame('the frame ends early')
  const rowsEnd = rowFrameHeaderBytes + frame.readUInt32LE(4)
  if (rowsEnd > frame.length) throw new MalformedFrame('the rows are longer than their frame')
  const rows = frame.subarray(rowFrameHeaderBytes, rowsEnd)
  const bytes = decompressRows(rows, frame[1], decompressed_bytes_max)
  const { project_id, receipts } = parseTrailer(frame.subarray(rowsEnd))
  assertRows(bytes, receipts)
  return {
    project_id,
    row_format: frame.readUInt16LE(2),
    receipts,
    bytes,
    eachRow: (visit) => eachRow(bytes, receipts, visit),
  }
}

function decompressRows(rows: Buffer, compression: number | undefined, bytes_max: number): Buffer {
  if (compression === compressionNone) return rows
  if (compression !== compressionZstd) throw new MalformedFrame(`compression ${compression}`)
  try {
    return zstdDecompressSync(rows, { maxOutputLength: bytes_max })
  } catch (cause) {
    throw new MalformedFrame('the rows do not decompress', { cause })
  }
}

/** Checks that every row ends in the frame, and that the receipts count the rows. */
function assertRows(bytes: Buffer, receipts: readonly FrameReceipt[]): void {
  let at = 0
  for (const { rows, records } of receipts) {
    const counts: RecordCounts = {
      observations: 0,
      traces: 0,
      events: 0,
      links: 0,
      correlations: 0,
    }
    for (let left = rows; left > 0; left--) {
      const row = rowAt(bytes, at)
      counts[row.kind] += 1
      at = row.end
    }
    if (rowKinds.some((kind) => records[kind] !== counts[kind])) {
      throw new MalformedFrame('the counts of a receipt do not match its rows')
    }
  }
  if (at !== bytes.length) throw new MalformedFrame('the frame has rows without a receipt')
}

function rowAt(bytes: Buffer, at: number): { kind: RowKind; end: number } {
  if (at + rowHeaderBytes > bytes.length) throw new MalformedFrame('a row is missing')
  const kind = rowKinds[(bytes[at] ?? 0) - 1]
  if (kind === undefined) throw new MalformedFrame(`a row of kind ${bytes[at]}`)
  const end = at + rowHeaderBytes + bytes.readUInt32LE(at + 1)
  if (end > bytes.length) throw new MalformedFrame('a row is longer than its frame')
  return { kind, end }
}

function eachRow(bytes: Buffer, receipts: readonly FrameReceipt[], visit: RowVisitor): void {
  let at = 0
  for (let index = 0; index < receipts.length; index++) {
    for (let left = receipts[index]?.rows ?? 0; left > 0; left--) {
      const { kind, end } = rowAt(bytes, at)
      visit(kind, at + rowHeaderBytes, end, index)
      at = end
    }
  }
}

function parseTrailer(bytes: Buffer): { project_id: string; receipts: FrameReceipt[] } {
  const trailer = parseJson(bytes)
  if (!isObject(trailer) || typeof trailer['project_id'] !== 'string') {
    throw new MalformedFrame('the trailer names no project')
  }
  const { project_id, receipts } = trailer as { project_id: string; receipts: unknown }
  if (!Array.isArray(receipts) || !receipts.every(isReceipt)) {
    throw new MalformedFrame('the trailer has an invalid receipt')
  }
  return { project_id, receipts }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw new MalformedFrame('the trailer is not JSON', { cause })
  }
}

/** Written by hand for speed: a frame of many small requests has many receipts. */
function isReceipt(value: unknown): value is FrameReceipt {
  if (!isObject(value)) return false
  return (
    typeof value['ingest_request_id'] === 'string' &&
    ingestPaths.includes(value['path'] as IngestPath) &&
    isCount(value['received_at_ms']) &&
    isCount(value['items']) &&
    isCount(value['rows']) &&
    isCount(value['masked']) &&
    hasCounts(value['records']) &&
    hasCounts(value['rejected'])
  )
}

function hasCounts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isCount)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

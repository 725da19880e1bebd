/**
 * The bytes of a segment: a header, then records. Numbers are little-endian.
 *
 * ```
 * header  'LTJ1' [use u32] [ordinal u32]
 * record  [body u32] [use u32] [sequence u32] [kind u8] [id u8] [subject u16] [check u32]
 *         body: id, subject, data
 *         [use u32] [sequence u32]
 * ```
 *
 * `use` is a random number for each use of a file, so that bytes of an earlier use are not read as
 * records. A killed process leaves the first bytes of its last write: without its last eight bytes a
 * record is torn. `check` covers the head and every 64th byte of the body, so that a page of 4 KiB
 * that was never written is found too, at a fiftieth of the cost of a checksum of all bytes.
 */
const magic = Buffer.from('LTJ1')
export const segmentHeaderBytes = 12
const headBytes = 20
const tailBytes = 8
const sampleStride = 64

/** Maximum characters of an id; a queue accepts no longer one. */
const maxIdChars = 200

const kinds = { part: 1, settled: 2 } as const
type RecordKind = keyof typeof kinds

/** The use of a file as a segment. Segments are in the order of their ordinals. */
export type SegmentUse = { use: number; ordinal: number }

/** A part of a message, or the note that a message is settled. */
export type JournalRecord = { kind: RecordKind; id: string; subject: string; data: Uint8Array }

/** A record to write: its data in pieces, which are not copied. */
export type OutgoingRecord = Omit<JournalRecord, 'data'> & { data: readonly Uint8Array[] }

/** Returns the header of a segment. */
export function encodeHeader({ use, ordinal }: SegmentUse): Buffer {
  const header = Buffer.alloc(segmentHeaderBytes)
  magic.copy(header)
  header.writeUInt32LE(use, 4)
  header.writeUInt32LE(ordinal, 8)
  return header
}

/** Adds the pieces of a record to `pieces`. Returns its bytes. */
export function encodeRecord(
  { kind, id, subject, data }: OutgoingRecord,
  { use, sequence }: { use: number; sequence: number },
  pieces: Uint8Array[],
): number {
  const nameBytes = id.length + subject.length
  const head = Buffer.allocUnsafe(headBytes + nameBytes)
  let dataBytes = 0
  for (const piece of data) dataBytes += piece.length
  head.writeUInt32LE(nameBytes + dataBytes, 0)
  head.writeUInt32LE(use, 4)
  head.writeUInt32LE(sequence, 8)
  head[12] = kinds[kind]
  head[13] = id.length
  head.writeUInt16LE(subject.length, 14)
  head.write(id, headBytes, 'latin1')
  head.write(subject, headBytes + id.length, 'latin1')
  let check = checkOfHead(head)
  let at = 0
  for (const piece of [head.subarray(headBytes), ...data]) {
    check = addSamples(check, piece, at)
    at += piece.length
  }
  head.writeUInt32LE(check >>> 0, 16)
  const tail = Buffer.allocUnsafe(tailBytes)
  tail.writeUInt32LE(use, 0)
  tail.writeUInt32LE(sequence, 4)
  pieces.push(head, ...data, tail)
  return head.length + dataBytes + tailBytes
}

/** A segment as it was found. */
export type ReadSegment = SegmentUse & {
  records: JournalRecord[]
  /** Whether the last record was cut because its end is missing. */
  isTorn: boolean
}

/**
 * Reads a segment up to its last whole record; data are slices of the bytes. Returns undefined for
 * bytes that are not a segment.
 */
export function readSegment(bytes: Buffer): ReadSegment | undefined {
  if (bytes.length < segmentHeaderBytes || !bytes.subarray(0, magic.length).equals(magic)) {
    return undefined
  }
  const use = bytes.readUInt32LE(4)
  const ordinal = bytes.readUInt32LE(8)
  const records: JournalRecord[] = []
  let at = segmentHeaderBytes
  for (;;) {
    const sequence = records.length
    if (!isBegun(bytes, at, { use, sequence })) return { use, ordinal, records, isTorn: false }
    const end = recordEnd(bytes, at, { use, sequence })
    const record = end === undefined ? undefined : recordAt(bytes, at, end - tailBytes)
    if (end === undefined || record === undefined) return { use, ordinal, records, isTorn: true }
    records.push(record)
    at = end
  }
}

/** Whether a record of this use begins here: its head, or what is left of it before the file ends. */
function isBegun(bytes: Buffer, at: number, own: { use: number; sequence: number }): boolean {
  if (bytes.length - at < tailBytes + 4) return false
  return bytes.readUInt32LE(at + 4) === own.use && bytes.readUInt32LE(at + 8) === own.sequence
}

/** Returns the end of the record, or undefined when its last bytes are missing. */
function recordEnd(
  bytes: Buffer,
  at: number,
  own: { use: number; sequence: number },
): number | undefined {
  const tailAt = at + headBytes + bytes.readUInt32LE(at)
  if (tailAt + tailBytes > bytes.length) return undefined
  const isWhole =
    bytes.readUInt32LE(tailAt) === own.use && bytes.readUInt32LE(tailAt + 4) === own.sequence
  return isWhole ? tailAt + tailBytes : undefined
}

function recordAt(bytes: Buffer, at: number, bodyEnd: number): JournalRecord | undefined {
  const head = bytes.subarray(at, at + headBytes)
  const body = bytes.subarray(at + headBytes, bodyEnd)
  const check = addSamples(checkOfHead(head), body, 0)
  if (check >>> 0 !== head.readUInt32LE(16)) return undefined
  const idEnd = head.readUInt8(13)
  const subjectEnd = idEnd + head.readUInt16LE(14)
  const kind = head[12] === kinds.part ? 'part' : head[12] === kinds.settled ? 'settled' : undefined
  if (kind === undefined || subjectEnd > body.length || idEnd > maxIdChars) return undefined
  return {
    kind,
    id: body.toString('latin1', 0, idEnd),
    subject: body.toString('latin1', idEnd, subjectEnd),
    data: body.subarray(subjectEnd),
  }
}

/** FNV-1a, 32 bit (https://datatracker.ietf.org/doc/draft-eastlake-fnv/). */
const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

function checkOfHead(head: Buffer): number {
  let check = fnvOffset
  for (let at = 0; at < 16; at += 1) check = Math.imul(check ^ (head[at] ?? 0), fnvPrime)
  return check
}

/** Adds every 64th byte of the body, of which `piece` is the part from offset `from`. */
function addSamples(before: number, piece: Uint8Array, from: number): number {
  let check = before
  const first = (sampleStride - (from % sampleStride)) % sampleStride
  for (let at = first; at < piece.length; at += sampleStride) {
    check = Math.imul(check ^ (piece[at] ?? 0), fnvPrime)
  }
  return check
}

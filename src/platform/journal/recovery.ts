import { type JournalRecord, readSegment, type SegmentUse } from './records.ts'

/** A message that an earlier process left, as far as it was written. */
export type LeftMessage = { id: string; subject: string; data: Uint8Array }

/** The contents of an earlier process's segments. */
export type Recovered = {
  /** Messages without a note that they are settled, in the order of their first parts. */
  messages: LeftMessage[]
  /** Records whose end is missing, and files that are not segments. */
  torn: number
  /** The largest ordinal; 0 without a segment. */
  last_ordinal: number
}

/** Puts the messages of segments together. The order of `files` does not matter. */
export function recoverMessages(files: readonly Buffer[]): Recovered {
  const segments = files.map(readSegment).filter((segment) => segment !== undefined)
  segments.sort(byOrdinal)
  const records = segments.flatMap((segment) => segment.records)
  const torn = segments.filter(({ isTorn }) => isTorn).length
  return {
    messages: joinParts(records),
    torn: torn + files.length - segments.length,
    last_ordinal: segments.at(-1)?.ordinal ?? 0,
  }
}

/** Joins the parts of each message that is not settled. */
function joinParts(records: readonly JournalRecord[]): LeftMessage[] {
  const settled = new Set<string>()
  const left = new Map<string, { id: string; subject: string; data: Uint8Array[] }>()
  for (const { kind, id } of records) if (kind === 'settled') settled.add(id)
  for (const { kind, id, subject, data } of records) {
    if (kind === 'settled' || settled.has(id)) continue
    const message = left.get(id)
    if (message === undefined) left.set(id, { id, subject, data: [data] })
    else message.data.push(data)
  }
  return Array.from(left.values(), ({ id, subject, data }) => ({ id, subject, data: joined(data) }))
}

function byOrdinal(a: SegmentUse, b: SegmentUse): number {
  return a.ordinal - b.ordinal
}

function joined(data: readonly Uint8Array[]): Uint8Array {
  const [only] = data
  return data.length === 1 && only ? only : Buffer.concat(data)
}

import type { FrameReceipt, RowKind } from '../../model/row-frame.ts'
import type { Delivery } from '../../platform/queue/index.ts'
import type { MappingContext } from '../records/exchanges/index.ts'
import type { ObservationHead } from '../storage/row-format/index.ts'

/**
 * Rows of one message as they go into the store, in their order. Lists side by side instead of a
 * list of objects: there are tens of thousands a second.
 */
type EncodedRows = {
  /** Where the rows lie. */
  bytes: Buffer
  kinds: RowKind[]
  /** Places in `bytes`. */
  starts: number[]
  ends: number[]
  /** Which of the message's receipts a row belongs to. */
  receipts: number[]
  /** What roll-ups need of observations; undefined for what they do not count. */
  heads: (ObservationHead | undefined)[]
}

/** What a message brings of one request of one project. */
export type MessageReceipt = FrameReceipt & { project_id: string }

/** A queue message as rows. What could not become a row is in `faults`: it is to be set apart. */
export type ReadMessage = {
  delivery: Delivery
  receipts: MessageReceipt[]
  rows: EncodedRows
  faults: MessageFault[]
}

/**
 * Why something of the message can not be stored, and which receipt counts it, if any does: a row
 * of a kind, or all that the receipt tells of.
 */
export type MessageFault = { reason: string; receipt?: number; kind?: RowKind }

/** What reading needs beside the message. */
export type ReadingContext = MappingContext & { frame_bytes_max: number }

/** No rows yet. */
export function emptyRows(): EncodedRows {
  return { bytes: nothing, kinds: [], starts: [], ends: [], receipts: [], heads: [] }
}

const nothing = Buffer.alloc(0)

/** Adds a row that lies from `start` to `end`. */
export function addRow(
  rows: EncodedRows,
  row: { kind: RowKind; start: number; end: number; receipt: number },
  head: ObservationHead | undefined,
): void {
  rows.kinds.push(row.kind)
  rows.starts.push(row.start)
  rows.ends.push(row.end)
  rows.receipts.push(row.receipt)
  rows.heads.push(head)
}

import type { FrameReceipt, RowKind } from '../../model/row-frame.ts'
import type { Delivery } from '../../platform/queue/index.ts'
import type { MappingContext } from '../records/exchanges/index.ts'
import type { ObservationHead } from '../storage/row-format/index.ts'

/**
 * The rows of one message in order, as they are inserted. Parallel lists replace a list of objects,
 * because there are tens of thousands of rows a second.
 */
type EncodedRows = {
  /** The encoded rows. */
  bytes: Buffer
  kinds: RowKind[]
  /** Offsets into `bytes`. */
  starts: number[]
  ends: number[]
  /** Index of each row's receipt in the message. */
  receipts: number[]
  /** Fields of observations that roll-ups need; undefined for rows that do not count. */
  heads: (ObservationHead | undefined)[]
}

/** The part of a message that belongs to one request of one project. */
export type MessageReceipt = FrameReceipt & { project_id: string }

/**
 * A queue message as rows. `faults` lists the parts that could not become rows, for the dead
 * letter.
 */
export type ReadMessage = {
  delivery: Delivery
  receipts: MessageReceipt[]
  rows: EncodedRows
  faults: MessageFault[]
}

/**
 * Why a part of the message cannot be stored, and the receipt that counts it, if there is one. The
 * part is one row of `kind`, or without a kind the whole receipt.
 */
export type MessageFault = { reason: string; receipt?: number; kind?: RowKind }

/** Settings and services for reading messages. */
export type ReadingContext = MappingContext & { frame_bytes_max: number }

/** Returns an empty list of rows. */
export function emptyRows(): EncodedRows {
  return { bytes: nothing, kinds: [], starts: [], ends: [], receipts: [], heads: [] }
}

const nothing = Buffer.alloc(0)

/** Adds the row from `start` to before `end`. */
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

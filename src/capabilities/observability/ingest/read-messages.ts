import { isRowFrame, type RowKind } from '../../../model/row-frame.ts'
import type { Delivery } from '../../../platform/queue/index.ts'
import type { MappingContext } from '../exchanges/index.ts'
import { type EncodedRows, emptyRows, type MessageReceipt } from './encoded-rows.ts'
import { readExchanges } from './read-exchanges.ts'
import { readRows } from './read-rows.ts'

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

/** Reads a queue message. Never throws; a message that is no frame is all fault. */
export function readMessage(delivery: Delivery, context: ReadingContext): ReadMessage {
  const message: ReadMessage = { delivery, receipts: [], rows: emptyRows(), faults: [] }
  try {
    if (isRowFrame(delivery.data)) readRows(message, context.frame_bytes_max)
    else readExchanges(message, context)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const faults: MessageFault[] = message.receipts.map((_, receipt) => ({ reason, receipt }))
    return { ...message, rows: emptyRows(), faults: faults.length > 0 ? faults : [{ reason }] }
  }
  return message
}

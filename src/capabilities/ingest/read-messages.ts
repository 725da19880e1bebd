import { isRowFrame } from '../../model/row-frame.ts'
import type { Delivery } from '../../platform/queue/index.ts'
import {
  emptyRows,
  type MessageFault,
  type ReadingContext,
  type ReadMessage,
} from './message-rows.ts'
import { readExchanges } from './read-exchanges.ts'
import { readRows } from './read-rows.ts'

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

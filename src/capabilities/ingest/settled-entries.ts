import type { RecordCounts } from '../../model/ingest-records.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { RowKind } from '../../model/row-frame.ts'
import { rejectedEntry } from '../ledger/index.ts'
import type { MessageReceipt, ReadMessage } from './message-rows.ts'
import type { Refused } from './write-messages.ts'

/** Why the ledger says that items were not stored. */
export type RejectReason = 'refused_by_store' | 'dead_letter'

/**
 * The settled side of the ledger of a message, an entry for each of its receipts, and again what
 * the edge says that it refused: an edge that died meanwhile told nobody else.
 */
export function settledEntries(
  message: ReadMessage,
  refused: readonly Refused[],
  about: { settled_at_ms: number; reason: string },
): LedgerEntry[] {
  const books = message.receipts.map(newBook)
  for (const { receipt, kind } of message.faults) {
    if (receipt !== undefined) strike(books[receipt], kind, 'dead_letter')
  }
  const { kinds, receipts } = message.rows
  for (const { from, to, by_store } of refused) {
    for (let row = from; row < to; row++) {
      strike(books[receipts[row] ?? 0], kinds[row], by_store ? 'refused_by_store' : 'dead_letter')
    }
  }
  const entries = books.map((book) => entryOf(message, book, about))
  for (const receipt of message.receipts) {
    if (!hasAny(receipt.rejected)) continue
    entries.push({ ...rejectedEntry(receipt, receipt.rejected), settled_at_ms: beforeTheEdge_ms })
  }
  return entries
}

/**
 * What the edge itself says is newer than this and wins: it may have refused more by then than it
 * knew when it sent the message.
 */
const beforeTheEdge_ms = -1

/** What became of a receipt's items and records. */
type Book = {
  receipt: MessageReceipt
  stored: number
  rejected: Partial<Record<RejectReason, number>>
  records: RecordCounts
}

function newBook(receipt: MessageReceipt): Book {
  return { receipt, stored: receipt.items, rejected: noneRejected, records: receipt.records }
}

const noneRejected: Readonly<Partial<Record<RejectReason, number>>> = Object.freeze({})

/** Takes a row, or without a kind everything, out of what is stored. */
function strike(book: Book | undefined, kind: RowKind | undefined, reason: RejectReason): void {
  if (book === undefined) return
  const { receipt, records } = book
  const items = kind === undefined ? book.stored : Math.min(book.stored, itemsOf(receipt, kind))
  book.stored -= items
  book.records =
    kind === undefined ? noRecords : { ...records, [kind]: Math.max(0, records[kind] - 1) }
  if (items > 0) {
    book.rejected = { ...book.rejected, [reason]: (book.rejected[reason] ?? 0) + items }
  }
}

const noRecords: RecordCounts = { traces: 0, observations: 0, events: 0, links: 0, correlations: 0 }

/**
 * Items that a row stands for: one where each row is an item, as in canonical batches and logs;
 * else one for an observation, and none for what came along with it.
 */
function itemsOf({ items, rows, records }: MessageReceipt, kind: RowKind): number {
  return items >= rows || records.observations === 0 || kind === 'observations' ? 1 : 0
}

function entryOf(
  { delivery }: ReadMessage,
  { receipt, stored, rejected, records }: Book,
  about: { settled_at_ms: number; reason: string },
): LedgerEntry {
  return {
    project_id: receipt.project_id,
    ingest_request_id: receipt.ingest_request_id,
    message_id: delivery.id,
    side: 'settled',
    path: receipt.path,
    received_at_ms: receipt.received_at_ms,
    items: receipt.items,
    stored,
    rejected,
    lost: none,
    masked: receipt.masked,
    records,
    attempts: delivery.attempt,
    settled_at_ms: about.settled_at_ms,
    error_reason: stored < receipt.items || records !== receipt.records ? about.reason : '',
  }
}

const none: Readonly<Record<string, number>> = Object.freeze({})

function hasAny(counts: Readonly<Record<string, number>>): boolean {
  for (const _reason in counts) return true
  return false
}

import { newId } from '../../kernel/ids.ts'
import type { Clock } from '../../kernel/time.ts'
import type { RecordCounts } from '../../model/ingest-records.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { RowKind } from '../../model/row-frame.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { type LedgerMeters, rejectedEntry } from '../ledger/index.ts'
import { scrubbed } from '../records/exchanges/index.ts'
import type { LedgerStore } from '../storage/index.ts'
import type { IngestMeters } from './meters.ts'
import type { MessageReceipt, ReadMessage } from './read-messages.ts'
import type { Refused } from './write-messages.ts'

/** The dependencies of settling messages. */
export type SettlePorts = {
  ledger: Pick<LedgerStore, 'insertEntries'>
  /** Receives the settled entries of canonical batches before their messages are acknowledged. */
  settleRequests?: ((entries: readonly LedgerEntry[]) => Promise<void>) | undefined
  clock: Clock
  logger: Logger
  meters: IngestMeters
  items: LedgerMeters
}

/** Written messages, and their ledger entries. */
type Settlement = {
  messages: readonly ReadMessage[]
  /** Reasons of dead letters, by message id. */
  reasons: ReadonlyMap<string, string>
  entries: LedgerEntry[]
  token: string
}

/** Returns the fate of each message. */
export function createSettlement(
  messages: readonly ReadMessage[],
  refused: readonly Refused[],
  clock: Clock,
): Settlement {
  const reasons = reasonsOf(messages, refused)
  const settled_at_ms = clock.now_ms()
  const entries = messages.flatMap((message) => {
    const { id } = message.delivery
    const mine = refused.length === 0 ? refused : refused.filter((one) => one.message === message)
    return settledEntries(message, mine, { settled_at_ms, reason: reasons.get(id) ?? '' })
  })
  return { messages, reasons, entries, token: newId() }
}

/**
 * Writes the ledger, and the status of requests. Repeating it is harmless. Rejects with a store's
 * error.
 */
export async function recordSettlement(ports: SettlePorts, settlement: Settlement): Promise<void> {
  const { entries, token } = settlement
  if (entries.length === 0) return
  await ports.ledger.insertEntries(entries, { token })
  if (ports.settleRequests === undefined) return
  const ofRequests = entries.filter(({ path, side }) => path === 'api' && side === 'settled')
  if (ofRequests.length > 0) await ports.settleRequests(ofRequests)
}

/** Acknowledges stored messages and dead-letters faulty ones. */
export async function settleMessages(ports: SettlePorts, settlement: Settlement): Promise<void> {
  const { messages, reasons, entries } = settlement
  countItems(ports.items, entries)
  await Promise.all(
    messages.map(async ({ delivery }) => {
      const reason = reasons.get(delivery.id)
      if (reason === undefined) return delivery.ack()
      ports.logger.error({ message_id: delivery.id, reason }, 'a message was dead-lettered')
      await delivery.bury(reason)
      ports.meters.poisoned.inc()
    }),
  )
}

function reasonsOf(
  messages: readonly ReadMessage[],
  refused: readonly Refused[],
): Map<string, string> {
  const faults = new Map<string, string[]>()
  for (const { delivery, faults: found } of messages) {
    if (found.length > 0) faults.set(delivery.id, [...new Set(found.map(({ reason }) => reason))])
  }
  for (const { message, reason } of refused) {
    const known = faults.get(message.delivery.id)
    if (known) known.push(reason)
    else faults.set(message.delivery.id, [reason])
  }
  const reasons = new Map<string, string>()
  for (const [id, found] of faults) reasons.set(id, reasonFrom(found))
  return reasons
}

const maxFaultsShown = 3
const reason_chars_max = 480

function reasonFrom(faults: readonly string[]): string {
  const more = faults.length - maxFaultsShown
  const shown = faults.slice(0, maxFaultsShown).join('; ')
  return scrubbed(more > 0 ? `${shown}; and ${more} more` : shown).slice(0, reason_chars_max)
}

/** Counts items. Consecutive entries of one project and path are counted together. */
function countItems(items: LedgerMeters, entries: readonly LedgerEntry[]): void {
  let stored = 0
  for (const [at, entry] of entries.entries()) {
    if (entry.side !== 'settled') continue
    const { project_id, path, rejected } = entry
    stored += entry.stored
    for (const reason in rejected) {
      items.count({ project_id, path, outcome: 'rejected', reason }, rejected[reason] ?? 0)
    }
    const next = entries[at + 1]
    if (next?.side === 'settled' && next.project_id === project_id && next.path === path) continue
    items.count({ project_id, path, outcome: 'stored', reason: '' }, stored)
    stored = 0
  }
}

/** Why items were not stored, in the ledger. */
type RejectReason = 'refused_by_store' | 'dead_letter'

/**
 * Returns the settled entries of a message, one for each of its receipts. It repeats the edge's
 * rejected items, in case the edge died before it reported them.
 */
function settledEntries(
  message: ReadMessage,
  refused: readonly Refused[],
  outcome: { settled_at_ms: number; reason: string },
): LedgerEntry[] {
  const books = message.receipts.map(newBook)
  for (const { receipt, kind } of message.faults) {
    if (receipt !== undefined) moveToRejected(books[receipt], kind, 'dead_letter')
  }
  const { kinds, receipts } = message.rows
  for (const { from, to, by_store } of refused) {
    for (let row = from; row < to; row++) {
      moveToRejected(
        books[receipts[row] ?? 0],
        kinds[row],
        by_store ? 'refused_by_store' : 'dead_letter',
      )
    }
  }
  const entries = books.map((book) => entryOf(message, book, outcome))
  for (const receipt of message.receipts) {
    if (!hasAny(receipt.rejected)) continue
    entries.push({ ...rejectedEntry(receipt, receipt.rejected), settled_at_ms: beforeTheEdgeMs })
  }
  return entries
}

/**
 * Older than any entry of the edge itself, which wins: the edge may have rejected more items after
 * it sent the message.
 */
const beforeTheEdgeMs = -1

/** The accounts of one receipt: what became of its items and records. */
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

/** Moves a row, or without a kind everything, from stored to rejected. */
function moveToRejected(
  book: Book | undefined,
  kind: RowKind | undefined,
  reason: RejectReason,
): void {
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
 * Returns the items that a row stands for. Where each row is an item, as in canonical batches and
 * logs, it is one; otherwise only observations are items.
 */
function itemsOf({ items, rows, records }: MessageReceipt, kind: RowKind): number {
  return items >= rows || records.observations === 0 || kind === 'observations' ? 1 : 0
}

function entryOf(
  { delivery }: ReadMessage,
  { receipt, stored, rejected, records }: Book,
  outcome: { settled_at_ms: number; reason: string },
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
    settled_at_ms: outcome.settled_at_ms,
    error_reason: stored < receipt.items || records !== receipt.records ? outcome.reason : '',
  }
}

const none: Readonly<Record<string, number>> = Object.freeze({})

function hasAny(counts: Readonly<Record<string, number>>): boolean {
  for (const _reason in counts) return true
  return false
}

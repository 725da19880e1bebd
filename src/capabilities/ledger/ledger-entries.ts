import type { IngestPath } from '../../model/ingest-records.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'

/** Which request an entry of the edge is about. */
export type LedgerRequest = {
  project_id: string
  ingest_request_id: string
  path: IngestPath
  received_at_ms: number
}

const none: Readonly<Record<string, number>> = Object.freeze({})
const noRecords = Object.freeze({
  traces: 0,
  observations: 0,
  events: 0,
  links: 0,
  correlations: 0,
})

/** The accepted side of the items of a request that a message has taken, once it is durable. */
export function acceptedEntry(
  request: LedgerRequest,
  message_id: string,
  items: number,
  masked = 0,
): LedgerEntry {
  return entryOf(request, { message_id, items, masked, rejected: none, lost: none })
}

/** The items of a request that the edge refused, by reason. */
export function rejectedEntry(
  request: LedgerRequest,
  rejected: Readonly<Record<string, number>>,
  masked = 0,
): LedgerEntry {
  return entryOf(request, { message_id: '', masked, items: sum(rejected), rejected, lost: none })
}

/** The items of a request that the edge lost, by reason. */
export function lostEntry(
  request: LedgerRequest,
  lost: Readonly<Record<string, number>>,
): LedgerEntry {
  return entryOf(request, { message_id: '', masked: 0, items: sum(lost), rejected: none, lost })
}

function entryOf(
  request: LedgerRequest,
  about: Pick<LedgerEntry, 'message_id' | 'items' | 'masked' | 'rejected' | 'lost'>,
): LedgerEntry {
  return {
    project_id: request.project_id,
    ingest_request_id: request.ingest_request_id,
    message_id: about.message_id,
    side: 'accepted',
    path: request.path,
    received_at_ms: request.received_at_ms,
    items: about.items,
    stored: 0,
    rejected: about.rejected,
    lost: about.lost,
    masked: about.masked,
    records: noRecords,
    attempts: 0,
    settled_at_ms: 0,
    error_reason: '',
  }
}

function sum(counts: Readonly<Record<string, number>>): number {
  let total = 0
  for (const reason in counts) total += counts[reason] ?? 0
  return total
}

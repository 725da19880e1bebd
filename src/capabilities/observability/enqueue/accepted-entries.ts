import type { RecordCounts } from '../../../model/ingest-records.ts'
import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import type { SealedFrame } from './open-frame.ts'
import { type PendingRequest, sumOf } from './pending-request.ts'

const noCounts = {}
const noRecords: RecordCounts = { observations: 0, traces: 0, events: 0, links: 0, correlations: 0 }

/** What the ledger is told of a durable message: an entry for each of its receipts. */
export function acceptedEntries(frame: SealedFrame): LedgerEntry[] {
  const { project_id, message_id } = frame
  return frame.receipts.map(({ ingest_request_id, path, received_at_ms, items, masked }) => ({
    project_id,
    ingest_request_id,
    message_id,
    side: 'accepted',
    path,
    received_at_ms,
    items,
    stored: 0,
    rejected: noCounts,
    lost: noCounts,
    masked,
    records: noRecords,
    attempts: 0,
    settled_at_ms: 0,
    error_reason: '',
  }))
}

/** What the ledger is told of items that the edge refused; undefined when it took all of them. */
export function refusedEntry(pending: PendingRequest): LedgerEntry | undefined {
  const { request, messages } = pending
  const refused = pending.allRefused()
  const items = sumOf(refused)
  if (items === 0) return undefined
  const { project_id, ingest_request_id, path, received_at_ms, masked } = request
  return {
    project_id,
    ingest_request_id,
    message_id: '',
    side: 'accepted',
    path,
    received_at_ms,
    items,
    stored: 0,
    rejected: refused,
    lost: noCounts,
    masked: messages === 0 ? masked : 0,
    records: noRecords,
    attempts: 0,
    settled_at_ms: 0,
    error_reason: '',
  }
}

import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import { acceptedEntry, rejectedEntry } from '../../ledger/index.ts'
import type { SealedFrame } from './open-frame.ts'
import { type PendingRequest, sumOf } from './pending-request.ts'

/** What the ledger is told of a durable message: an entry for each of its receipts. */
export function acceptedEntries({ project_id, message_id, receipts }: SealedFrame): LedgerEntry[] {
  return receipts.map(({ ingest_request_id, path, received_at_ms, items, masked }) => {
    const request = { project_id, ingest_request_id, path, received_at_ms }
    return acceptedEntry(request, message_id, items, masked)
  })
}

/** What the ledger is told of items that the edge refused; undefined when it took all of them. */
export function refusedEntry(pending: PendingRequest): LedgerEntry | undefined {
  const { request, messages } = pending
  const refused = pending.allRefused()
  if (sumOf(refused) === 0) return undefined
  return rejectedEntry(request, refused, messages === 0 ? request.masked : 0)
}

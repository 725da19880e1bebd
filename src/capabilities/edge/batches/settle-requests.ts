import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import { type IngestTables, type Kysely, sql } from '../../../platform/relational/index.ts'

/** The reason under which a settled entry counts the items of a dead letter. */
const deadLetterReason = 'dead_letter'

/** Maximum entries of one statement. */
const entries_max = 500

/**
 * Stores the settled entries of canonical batches; ignores entries of other paths or sides. An
 * entry replaces an older one of its message, never a newer one. Entries of a deleted request are
 * ignored. So calls may be repeated, in full or in part, and a replayed dead letter turns `failed`
 * into `succeeded`. Throws `store_unavailable`.
 */
export async function settleRequests(
  db: Kysely<IngestTables>,
  entries: readonly LedgerEntry[],
): Promise<void> {
  const latest = latestOf(entries)
  for (let from = 0; from < latest.length; from += entries_max) {
    await write(db, latest.slice(from, from + entries_max))
  }
}

/** Returns one entry for each message, because one statement cannot write a row twice. */
function latestOf(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const latest = new Map<string, LedgerEntry>()
  for (const entry of entries) {
    if (entry.path !== 'api' || entry.side !== 'settled' || entry.message_id === '') continue
    const key = `${entry.ingest_request_id} ${entry.message_id}`
    const known = latest.get(key)
    if (known === undefined || known.settled_at_ms <= entry.settled_at_ms) latest.set(key, entry)
  }
  return [...latest.values()]
}

/** Writes rows in the order of their key, so that concurrent calls do not deadlock. */
async function write(db: Kysely<IngestTables>, entries: readonly LedgerEntry[]): Promise<void> {
  await sql`
    insert into ingest_request_messages as known
      (ingest_request_id, message_id, settled_at, failed, attempts, stored, rejected, lost,
       traces, observations, events, links, correlations, error_reason)
    select entry.ingest_request_id, message_id, settled_at, failed, attempts, stored,
      entry.rejected, lost, traces, observations, events, links, correlations, entry.error_reason
    from json_to_recordset(${JSON.stringify(entries.map(rowOf))}::json) as entry (
      project_id uuid, ingest_request_id uuid, message_id text, settled_at timestamptz,
      failed boolean, attempts int, stored bigint, rejected bigint, lost bigint, traces bigint,
      observations bigint, events bigint, links bigint, correlations bigint, error_reason text)
    join ingest_requests as request on request.ingest_request_id = entry.ingest_request_id
      and request.project_id = entry.project_id
    order by entry.ingest_request_id, message_id
    on conflict (ingest_request_id, message_id) do update
      set settled_at = excluded.settled_at, failed = excluded.failed,
        attempts = excluded.attempts, stored = excluded.stored, rejected = excluded.rejected,
        lost = excluded.lost, traces = excluded.traces, observations = excluded.observations,
        events = excluded.events, links = excluded.links, correlations = excluded.correlations,
        error_reason = excluded.error_reason
      where excluded.settled_at >= known.settled_at`.execute(db)
}

function rowOf(entry: LedgerEntry) {
  return {
    project_id: entry.project_id,
    ingest_request_id: entry.ingest_request_id,
    message_id: entry.message_id,
    settled_at: new Date(entry.settled_at_ms).toISOString(),
    failed: isDeadLetter(entry),
    attempts: entry.attempts,
    stored: entry.stored,
    rejected: sum(entry.rejected),
    lost: sum(entry.lost),
    ...entry.records,
    error_reason: entry.error_reason.replaceAll('\u0000', ''),
  }
}

/** Returns true for a dead letter, whose replay may still succeed. */
export function isDeadLetter(entry: LedgerEntry): boolean {
  return (entry.rejected[deadLetterReason] ?? 0) > 0 || (entry.lost[deadLetterReason] ?? 0) > 0
}

/** Returns the sum of counts by reason. */
export function sum(counts: Readonly<Record<string, number>>): number {
  let total = 0
  for (const reason in counts) total += counts[reason] ?? 0
  return total
}

/** Records that a worker has started these requests. Optional; once for each batch is enough. */
export async function markProcessing(
  db: Kysely<IngestTables>,
  ingestRequestIds: readonly string[],
): Promise<void> {
  if (ingestRequestIds.length === 0) return
  await db
    .updateTable('ingest_requests')
    .set({ processing_at: sql<string>`now()` })
    .where(sql<boolean>`ingest_request_id = any(${ingestRequestIds}::uuid[])`)
    .where('processing_at', 'is', null)
    .execute()
}

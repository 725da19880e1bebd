import { z } from 'zod'
import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import { faultSchema, record } from '../../../model/named-schemas.ts'
import { type IngestTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { runInProjects } from '../../../platform/tenancy/index.ts'
import { captureReasons } from '../../records/capture/index.ts'
import { schemaVersionNamed } from '../../records/schema/index.ts'
import type { RequestRow } from './store.ts'

const count = z.int().nonnegative()

/** The status of a request in the API. */
export const statusRecordSchema = record('IngestStatus', {
  ingest_request_id: z.uuid(),
  idempotency_key: z.string().describe('Empty for requests that did not come by this API.'),
  schema_version: z.string(),
  status: z
    .enum(['queued', 'processing', 'succeeded', 'failed'])
    .meta({ id: 'IngestState' })
    .describe(
      'succeeded: all records are settled, though some may be rejected; see error_reason. ' +
        'failed: no record was stored, or a part is dead-lettered, whose replay may still succeed.',
    ),
  attempts: count.describe('Deliveries of the message that needed the most.'),
  first_seen_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
  replayed_hits: count.describe('Repeated calls with the same key and body.'),
  error_reason: z.string().nullable().describe('Why records were rejected; null when none were.'),
  result_payload: z
    .strictObject({
      traces: count,
      observations: count,
      events: count,
      links: count,
      correlations: count.describe('Includes those made from W3C fields.'),
      rejected: count.describe('Records rejected at the edge or by the store.'),
      errors: z
        .array(faultSchema)
        .describe('Faults of records, with JSON pointers into the batch, at most 100.'),
      errors_left_out: count.describe('Number of faults beyond those in `errors`.'),
    })
    .meta({ id: 'IngestResult' })
    .describe('Records stored so far, by kind.'),
})
export type StatusRecord = z.output<typeof statusRecordSchema>

/** Returns the status of a request that came as a canonical batch. */
export function statusFromRow(row: RequestRow): StatusRecord {
  const rejected = row.rejected + row.refused
  return {
    ingest_request_id: row.ingest_request_id,
    idempotency_key: row.idempotency_key,
    schema_version: row.schema_version,
    status: statusOfRow(row),
    attempts: row.attempts,
    first_seen_at: row.first_seen_at,
    last_seen_at: row.last_seen_at,
    replayed_hits: row.replayed_hits,
    error_reason: reasonFrom([row.error_reason ?? '', ...row.reasons, describeLost(row.lost)]),
    result_payload: {
      traces: row.traces,
      observations: row.observations,
      events: row.events,
      links: row.links,
      correlations: row.correlations,
      rejected,
      errors: row.errors,
      errors_left_out: row.errors_left_out,
    },
  }
}

/** Returns true when the status changes only by a replay. */
export function hasEnded({ status }: StatusRecord): boolean {
  return status === 'succeeded' || status === 'failed'
}

function statusOfRow(row: RequestRow): StatusRecord['status'] {
  if (row.settled < row.messages_total) {
    return row.settled > 0 || row.processing_at !== null ? 'processing' : 'queued'
  }
  if (row.messages_total === 0) return row.errors.length > 0 ? 'failed' : 'succeeded'
  const nothingStored = row.stored === 0 && row.refused + row.lost > 0
  return row.failed > 0 || nothingStored ? 'failed' : 'succeeded'
}

/**
 * Returns the status of a request by another way in, from its ledger entries; undefined without
 * entries. Each entry stands for one message, or for items that no message contains.
 */
export function statusFromReceipt(entries: readonly LedgerEntry[]): StatusRecord | undefined {
  const [first] = entries
  if (first === undefined) return undefined
  const totals = totalsOf(entries)
  const seen_at = new Date(first.received_at_ms).toISOString()
  return {
    ingest_request_id: first.ingest_request_id,
    idempotency_key: '',
    schema_version: schemaVersionNamed(undefined).version,
    status: statusOfReceipt(entries, totals),
    attempts: totals.attempts,
    first_seen_at: seen_at,
    last_seen_at: seen_at,
    replayed_hits: 0,
    error_reason: reasonFrom([
      ...entries.map(({ error_reason }) => error_reason),
      ...entries.flatMap(({ rejected }) => Object.keys(rejected)),
      describeLost(totals.lost),
    ]),
    result_payload: {
      traces: totals.traces,
      observations: totals.observations,
      events: totals.events,
      links: totals.links,
      correlations: totals.correlations,
      rejected: totals.rejected,
      errors: [],
      errors_left_out: 0,
    },
  }
}

type Totals = ReturnType<typeof totalsOf>

function totalsOf(entries: readonly LedgerEntry[]) {
  const totals = {
    attempts: 0,
    stored: 0,
    rejected: 0,
    lost: 0,
    traces: 0,
    observations: 0,
    events: 0,
    links: 0,
    correlations: 0,
  }
  for (const { attempts, stored, rejected, lost, records } of entries) {
    totals.attempts = Math.max(totals.attempts, attempts)
    totals.stored += stored
    totals.rejected += sum(rejected)
    totals.lost += sum(lost)
    totals.traces += records.traces
    totals.observations += records.observations
    totals.events += records.events
    totals.links += records.links
    totals.correlations += records.correlations
  }
  return totals
}

function statusOfReceipt(
  entries: readonly LedgerEntry[],
  { stored, rejected, lost }: Totals,
): StatusRecord['status'] {
  const messages = entries.filter(({ message_id }) => message_id !== '')
  const settled = messages.filter(({ side }) => side === 'settled')
  if (settled.length < messages.length) return settled.length > 0 ? 'processing' : 'queued'
  const faulty = rejected - leftOutBy(entries) + lost
  const nothingStored = stored === 0 && faulty > 0
  return nothingStored || settled.some(isDeadLetter) ? 'failed' : 'succeeded'
}

/** Counts items that the project's own policy leaves out, which is not a failure. */
function leftOutBy(entries: readonly LedgerEntry[]): number {
  let items = 0
  for (const { rejected } of entries) {
    for (const reason of captureReasons) items += rejected[reason] ?? 0
  }
  return items
}

const reason_characters_max = 1000

function reasonFrom(reasons: readonly string[]): string | null {
  const told = [...new Set(reasons)].filter((reason) => reason !== '')
  return told.length === 0 ? null : told.join('; ').slice(0, reason_characters_max)
}

function describeLost(lost: number): string {
  return lost > 0 ? `${lost} records are lost` : ''
}

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
    const some = latest.slice(from, from + entries_max)
    await runInProjects(
      some.map(({ project_id }) => project_id),
      () => write(db, some),
    )
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
function isDeadLetter(entry: LedgerEntry): boolean {
  return (entry.rejected[deadLetterReason] ?? 0) > 0 || (entry.lost[deadLetterReason] ?? 0) > 0
}

/** Returns the sum of counts by reason. */
function sum(counts: Readonly<Record<string, number>>): number {
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

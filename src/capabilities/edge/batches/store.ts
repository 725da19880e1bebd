import type { Fault } from '../../../kernel/problem.ts'
import { type IngestTables, type Kysely, sql } from '../../../platform/relational/index.ts'

type Db = Kysely<IngestTables>

/** A batch that claims its idempotency key. */
type BatchClaim = {
  /** The id of the request if the key is new. */
  ingest_request_id: string
  project_id: string
  idempotency_key: string
  body_hash: Buffer
  schema_version: string
  items: number
  /** Identifies this call among those that claim the same key. */
  claim_id: string
}

/** The result of a claim. Instants are ISO 8601. */
export type ClaimOutcome =
  /** This call must publish the batch, under this id and arrival time. */
  | { state: 'claimed'; ingest_request_id: string; first_seen_at: string }
  /** The batch was published before. */
  | { state: 'published'; ingest_request_id: string }
  /** Another call is publishing it. */
  | { state: 'busy'; ingest_request_id?: string }
  /** The key belongs to a batch with another body. */
  | { state: 'conflict'; ingest_request_id: string }

/**
 * Claims a key for this call. A key can be claimed when it is new, when a failed call released it,
 * or when its claim is older than `take_over_after_ms` and was never published (its process died).
 * One statement decides, so only one of several concurrent calls gets the claim. Throws
 * `store_unavailable`.
 */
export async function claimBatch(
  db: Db,
  claim: BatchClaim,
  take_over_after_ms: number,
): Promise<ClaimOutcome> {
  const { ingest_request_id, project_id, idempotency_key, body_hash, claim_id } = claim
  const claimOrWait = await sql<{ ingest_request_id: string; first_seen_at: string }>`
    insert into ingest_requests as known
      (ingest_request_id, project_id, idempotency_key, body_hash, schema_version, items,
       claim_id, claimed_at)
    values (${ingest_request_id}, ${project_id}, ${idempotency_key}, ${body_hash},
      ${claim.schema_version}, ${claim.items}, ${claim_id}, now())
    on conflict (project_id, idempotency_key) do update
      set claim_id = excluded.claim_id, claimed_at = now(), last_seen_at = now(),
        replayed_hits = known.replayed_hits + 1
      where known.body_hash = excluded.body_hash and known.messages_total is null
        and (known.claimed_at is null
          or known.claimed_at <= now() - ${take_over_after_ms} * interval '1 millisecond')
    returning ingest_request_id, first_seen_at`.execute(db)
  const [row] = claimOrWait.rows
  if (row !== undefined) return { state: 'claimed', ...row }
  const known = await db
    .selectFrom('ingest_requests')
    .select(['ingest_request_id', 'body_hash', 'messages_total'])
    .where('project_id', '=', project_id)
    .where('idempotency_key', '=', idempotency_key)
    .executeTakeFirst()
  if (known === undefined) return { state: 'busy' }
  const { ingest_request_id: known_id, messages_total } = known
  if (!known.body_hash.equals(body_hash)) return { state: 'conflict', ingest_request_id: known_id }
  return { state: messages_total === null ? 'busy' : 'published', ingest_request_id: known_id }
}

/** Counts a repeated call. Throws `store_unavailable`. */
export async function countReplay(db: Db, ingest_request_id: string): Promise<void> {
  await db
    .updateTable('ingest_requests')
    .set((eb) => ({
      replayed_hits: eb('replayed_hits', '+', 1),
      last_seen_at: sql<string>`now()`,
    }))
    .where('ingest_request_id', '=', ingest_request_id)
    .execute()
}

/** The result of publishing a batch. */
export type Published = {
  messages_total: number
  rejected: number
  errors: readonly Fault[]
  errors_left_out: number
  error_reason: string | null
}

/**
 * Records that the batch is durable in the queue; later calls change nothing. It needs no claim.
 * Throws `store_unavailable`.
 */
export async function markPublished(
  db: Db,
  ingest_request_id: string,
  published: Published,
): Promise<void> {
  await db
    .updateTable('ingest_requests')
    .set({ ...published, errors: JSON.stringify(published.errors), claim_id: null })
    .where('ingest_request_id', '=', ingest_request_id)
    .where('messages_total', 'is', null)
    .execute()
}

/**
 * Releases a claim after a failure. The next call with the key uses the same id, so that messages
 * already in the queue are not duplicated. Throws `store_unavailable`.
 */
export async function releaseClaim(db: Db, claim_id: string, id: string): Promise<void> {
  await db
    .updateTable('ingest_requests')
    .set({ claim_id: null, claimed_at: null })
    .where('ingest_request_id', '=', id)
    .where('claim_id', '=', claim_id)
    .where('messages_total', 'is', null)
    .execute()
}

/** Retention of keys and records of requests, from their first call. */
const kept = '7 days'
const deleted_max = 10_000

/**
 * Deletes requests older than 7 days, at most 10,000 per call; a job of the control plane. Resolves
 * with their number. Throws `store_unavailable`.
 */
export async function deleteExpiredIngestRequests(db: Db): Promise<number> {
  const deleted = await sql`
    delete from ingest_requests where ingest_request_id in (
      select ingest_request_id from ingest_requests
      where first_seen_at < now() - ${kept}::interval limit ${deleted_max})`.execute(db)
  return Number(deleted.numAffectedRows ?? 0)
}

/** A request that is durable in the queue, with the sums over its settled messages. */
export type RequestRow = {
  ingest_request_id: string
  idempotency_key: string
  schema_version: string
  first_seen_at: string
  last_seen_at: string
  replayed_hits: number
  messages_total: number
  items: number
  /** Records that the edge rejected. */
  rejected: number
  errors: Fault[]
  errors_left_out: number
  error_reason: string | null
  processing_at: string | null
  settled: number
  /** Settled messages that are dead letters. */
  failed: number
  attempts: number
  stored: number
  /** Records that were rejected after the edge had accepted them. */
  refused: number
  lost: number
  traces: number
  observations: number
  events: number
  links: number
  correlations: number
  /** Reasons for which messages were not stored completely. */
  reasons: string[]
}

/** Maximum reasons in one status record. */
const reasons_max = 5

/** Returns a request of a project, or undefined. Throws `store_unavailable`. */
export async function findRequest(
  db: Kysely<IngestTables>,
  project_id: string,
  ingest_request_id: string,
): Promise<RequestRow | undefined> {
  const found = await sql<RequestRow>`
    select request.ingest_request_id, request.idempotency_key, request.schema_version,
      request.first_seen_at, request.last_seen_at, request.replayed_hits, request.messages_total,
      request.items, request.rejected, request.errors, request.errors_left_out,
      request.error_reason, request.processing_at, message.*
    from ingest_requests as request
    cross join lateral (
      select count(*) as settled, count(*) filter (where failed) as failed,
        coalesce(max(attempts), 0) as attempts, ${sumOf('stored')}, ${sumOf('rejected', 'refused')},
        ${sumOf('lost')}, ${sumOf('traces')}, ${sumOf('observations')}, ${sumOf('events')},
        ${sumOf('links')}, ${sumOf('correlations')},
        coalesce((array_agg(distinct error_reason) filter (where error_reason <> ''))
          [1:${sql.lit(reasons_max)}], '{}') as reasons
      from ingest_request_messages as settled
      where settled.ingest_request_id = request.ingest_request_id) as message
    where request.ingest_request_id = ${ingest_request_id} and request.project_id = ${project_id}
      and request.messages_total is not null`.execute(db)
  return found.rows[0]
}

function sumOf(column: string, name = column) {
  return sql`coalesce(sum(${sql.ref(column)}), 0)::bigint as ${sql.ref(name)}`
}

import type { Fault } from '../../../kernel/problem.ts'
import { type IngestTables, type Kysely, sql } from '../../../platform/relational/index.ts'

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
  /** Records that the edge refused. */
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
  /** Records that were refused after the edge had taken them. */
  refused: number
  lost: number
  traces: number
  observations: number
  events: number
  links: number
  correlations: number
  /** Why messages were not stored whole. */
  reasons: string[]
}

/** Reasons of settled messages that one record tells. */
const reasons_max = 5

/** One request of a project, or undefined. Throws `store_unavailable`. */
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

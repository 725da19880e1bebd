import { isModelCall } from '../../../model/observation.ts'
import { type Kysely, prepared, sql, type TaskTables } from '../../../platform/relational/index.ts'
import { isRetrieved } from '../../records/same-call/index.ts'
import type { ObservationHead } from '../../storage/row-format/index.ts'
import type { TraceKey } from './recent-traces.ts'

/**
 * Notes the calls of a batch by the provider's name of their answer, and returns the traces that have
 * a call of them together with a trace of the batch: spans on one side, the proxy's record on the
 * other. The batch must be stored, and the notes are durable when this returns.
 */
export async function noteResponses(
  db: Kysely<TaskTables>,
  heads: readonly ObservationHead[],
): Promise<TraceKey[]> {
  const calls = heads.filter((head) => isModelCall(head) && head.response_id !== '')
  if (calls.length === 0) return []
  const list = (of: (head: ObservationHead) => unknown) => calls.map((head) => String(of(head)))
  await sql`
    insert into recent_responses (project_id, response_id, trace_id, observation_id, is_record,
      is_retrieved, has_usage, start_time, end_time)
    select distinct on (1, 2, 3, 4) * from unnest(
      ${list(({ project_id }) => project_id)}::uuid[],
      ${list(({ response_id }) => response_id)}::text[],
      ${list(({ trace_id }) => trace_id)}::uuid[],
      ${list(({ observation_id }) => observation_id)}::text[],
      ${list((head) => head.source === 'proxy' && !isRetrieved(head))}::boolean[],
      ${list(isRetrieved)}::boolean[],
      ${list(({ usage_source }) => usage_source === 'provider')}::boolean[],
      ${list(({ start_time }) => start_time)}::bigint[],
      ${list(({ end_time }) => end_time)}::bigint[])
    on conflict (project_id, response_id, is_record, trace_id, observation_id) do update
    set end_time = excluded.end_time, has_usage = excluded.has_usage, seen_on = excluded.seen_on`.execute(
    prepared(db, 'note_responses'),
  )
  return linkedTraces(db, calls)
}

/**
 * Most pairs of calls that are read beside one pair for each call: a server that names all answers alike
 * has more.
 */
const linked_max = 1_000

/** Returns these traces and others that have a call together, both sides of each pair. */
export async function linkedTraces(
  db: Kysely<TaskTables>,
  traces: readonly TraceKey[],
): Promise<TraceKey[]> {
  if (traces.length === 0) return []
  const { rows } = await sql<{ project_id: string; own: string; other: string }>`
    with ${ownCalls(traces)}
    select distinct own.project_id, own.trace_id as own, other.trace_id as other
    from own
    ${callsAlike}
    limit (select count(*) from own) + ${linked_max}`.execute(prepared(db, 'linked_traces'))
  return rows.flatMap(({ project_id, own, other }) =>
    [own, other].map((trace_id) => ({ project_id, trace_id })),
  )
}

/**
 * A record of the proxy in another trace that names the same response as a span; or the record of a
 * retrieved response, for that of the exchange that began it.
 */
export type ForeignRecord = {
  /** The trace of the span, or of the record that began the response. */
  span_trace_id: string
  trace_id: string
  observation_id: string
  response_id: string
  start_time: bigint
  end_time: bigint
  /** Whether the provider stated its usage. */
  has_usage: boolean
}

/** Returns the proxy's records in other traces of the calls that these traces have spans of. */
export async function foreignRecords(
  db: Kysely<TaskTables>,
  traces: readonly TraceKey[],
): Promise<ForeignRecord[]> {
  const { rows } = await sql<
    Omit<ForeignRecord, 'start_time' | 'end_time'> & Record<'start_time' | 'end_time', string>
  >`
    with ${ownCalls(traces)}
    select distinct own.trace_id as span_trace_id, other.trace_id, other.observation_id,
      other.response_id, other.start_time::text, other.end_time::text, other.has_usage
    from own
    ${callsAlike}
    where other.is_record or (other.is_retrieved and other.has_usage)
    order by other.trace_id, other.observation_id
    limit (select count(*) from own) + ${linked_max}`.execute(prepared(db, 'foreign_records'))
  return rows.map((row) => ({
    ...row,
    start_time: BigInt(row.start_time),
    end_time: BigInt(row.end_time),
  }))
}

/** Returns the expression `own`: the noted calls of these traces. */
function ownCalls(traces: readonly TraceKey[]) {
  const keys = new Map(traces.map((key) => [`${key.project_id} ${key.trace_id}`, key]))
  const list = [...keys.values()].map(({ project_id, trace_id }) => ({ project_id, trace_id }))
  return sql`own as (
    select recent_responses.*
    from json_to_recordset(${JSON.stringify(list)}::json) as given (project_id uuid, trace_id uuid)
    join recent_responses using (project_id, trace_id)
  )`
}

/**
 * Joins the calls `other` of the other side, in other traces, that name the response of `own`: a span has no
 * use for the spans of a server that names all answers alike. `offset 0` keeps the search by the response:
 * PostgreSQL does not know how many calls a batch has, and before the first statistics of the table it
 * joined by the project alone, which compared 2,550 calls with 23,000 for 27 s.
 */
const callsAlike = sql`cross join lateral (
      select * from recent_responses as alike
      where alike.project_id = own.project_id and alike.response_id = own.response_id
        and alike.is_record = not own.is_record and alike.trace_id <> own.trace_id
      offset 0
    ) as other`

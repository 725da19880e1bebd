import {
  type Kysely,
  prepared,
  sql,
  type TaskTables,
  type Transaction,
} from '../../../platform/relational/index.ts'
import type { Chore } from '../../jobs/index.ts'

export type TraceKey = { project_id: string; trace_id: string }

/** Returns the key of a trace as text. */
export function textOf({ project_id, trace_id }: TraceKey): string {
  return `${project_id} ${trace_id}`
}

/** The part of a trace in a batch. `gives` and `wants`: see `ResolvedOwners`. */
export type TraceTouch = TraceKey & {
  /** The starts of its rows, in nanoseconds since 1970. */
  first_start: bigint
  last_start: bigint
  gives: number
  wants: number
  /** The task of its calls, if a rule found one and the trace is not the task; null otherwise. */
  joined_task_id: string | null
}

/** A trace with all of its batches, the present one included. */
export type RecentTrace = TraceTouch & {
  /** No earlier batch had rows of the trace. */
  is_new: boolean
  /** Workers that change its rows, or that ended before the roll-ups that follow. */
  moving: number
}

type TraceRow = Omit<RecentTrace, 'first_start' | 'last_start'> & {
  first_start: string
  last_start: string
}

/** Columns of a trace as they are read; bigint comes as text. */
const columns =
  'project_id, trace_id, first_start::text, last_start::text, gives, wants, joined_task_id, moving'

/**
 * Notes the traces of a batch, in the order of their keys, and returns what is known of them; their
 * notes are locked until the transaction ends. The batch must be stored. So of two workers with rows
 * of one trace the second sees the note of the first, and then also its rows.
 */
export async function noteTraces(
  db: Transaction<TaskTables>,
  touches: readonly TraceTouch[],
): Promise<RecentTrace[]> {
  const list = <Field extends keyof TraceTouch>(field: Field) =>
    touches.map((touch) => String(touch[field]))
  const joined = touches.map(({ joined_task_id }) => joined_task_id)
  const { rows } = await sql<TraceRow>`
    insert into recent_traces (project_id, trace_id, first_start, last_start, gives, wants,
      joined_task_id)
    select * from unnest(
      ${list('project_id')}::uuid[], ${list('trace_id')}::uuid[], ${list('first_start')}::bigint[],
      ${list('last_start')}::bigint[], ${list('gives')}::smallint[], ${list('wants')}::smallint[],
      ${joined}::text[])
    on conflict (project_id, trace_id) do update set
      first_start = least(recent_traces.first_start, excluded.first_start),
      last_start = greatest(recent_traces.last_start, excluded.last_start),
      gives = recent_traces.gives | excluded.gives,
      wants = recent_traces.wants | excluded.wants,
      joined_task_id = coalesce(excluded.joined_task_id, recent_traces.joined_task_id),
      seen_on = excluded.seen_on
    returning ${sql.raw(columns)}, (xmax = 0) as is_new`.execute(prepared(db, 'note_traces'))
  return rows.map(traceFrom)
}

/** Notes that a worker is about to change rows of these traces. */
export async function noteMoving(
  db: Kysely<TaskTables>,
  traces: readonly TraceKey[],
): Promise<void> {
  await sql`
    with held as (
      select project_id, trace_id from recent_traces
      join ${given(traces)} using (project_id, trace_id)
      order by project_id, trace_id for update of recent_traces
    )
    update recent_traces as known set moving = least(known.moving + 1, ${moving_max})
    from held
    where (known.project_id, known.trace_id) = (held.project_id, held.trace_id)`.execute(
    prepared(db, 'note_moving'),
  )
}

/** Returns whether a worker changes rows of these traces, or has ended before the roll-ups. */
export async function areMoving(
  db: Kysely<TaskTables>,
  traces: readonly TraceKey[],
): Promise<boolean> {
  const { rows } = await sql`
    select from recent_traces join ${given(traces)} using (project_id, trace_id)
    where moving > 0 limit 1`.execute(db)
  return rows.length > 0
}

/** The count of workers ends here; any count above 0 has the same effect. */
const moving_max = 1_000

/** Locks these traces in the order of their keys, until the transaction ends. */
export async function lockTraces(
  trx: Transaction<TaskTables>,
  traces: readonly TraceKey[],
): Promise<RecentTrace[]> {
  const { rows } = await sql<TraceRow>`
    select ${sql.raw(columns)}, false as is_new
    from recent_traces join ${given(traces)} using (project_id, trace_id)
    order by project_id, trace_id for update of recent_traces`.execute(prepared(trx, 'lock_traces'))
  return rows.map(traceFrom)
}

/** A trace whose rows were changed. */
export type SettledTrace = Pick<
  TraceTouch,
  'project_id' | 'trace_id' | 'gives' | 'wants' | 'joined_task_id'
>

/** Writes what the rows of locked traces give and want, once a worker has changed them. */
export async function settleNotes(
  trx: Transaction<TaskTables>,
  traces: readonly SettledTrace[],
): Promise<void> {
  await sql`
    update recent_traces as known set gives = given.gives, wants = given.wants,
      joined_task_id = given.joined_task_id,
      moving = greatest(known.moving - 1, 0)
    from json_to_recordset(${JSON.stringify(traces)}::json) as given (
      project_id uuid, trace_id uuid, gives smallint, wants smallint, joined_task_id text
    )
    where (known.project_id, known.trace_id) = (given.project_id, given.trace_id)`.execute(
    prepared(trx, 'settle_notes'),
  )
}

const dropped_max = 10_000

/** Returns the chore that drops the notes of traces without rows of yesterday or today. */
export function recentTracesChore({ db }: { db: Kysely<TaskTables> }): Chore {
  return {
    name: 'recent_traces',
    every_ms: 3_600_000,
    reason: 'drops the notes of old traces of all projects',
    run: (signal) => dropOldTraces(db, signal),
  }
}

async function dropOldTraces(db: Kysely<TaskTables>, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const { numAffectedRows = 0n } = await sql`
      delete from recent_traces where (project_id, trace_id) in (
        select project_id, trace_id from recent_traces
        where seen_on < current_date - 1 limit ${dropped_max})`.execute(db)
    const responses = await sql`
      delete from recent_responses where ctid in (
        select ctid from recent_responses
        where seen_on < current_date - 1 limit ${dropped_max})`.execute(db)
    const links = await sql`
      delete from recent_links where ctid in (
        select ctid from recent_links where seen_on < current_date - 1 limit ${dropped_max})`.execute(
      db,
    )
    const dropped = [numAffectedRows, responses.numAffectedRows ?? 0n, links.numAffectedRows ?? 0n]
    if (dropped.every((count) => count === 0n)) return
  }
}

function given(traces: readonly TraceKey[]) {
  const keys = traces.map(({ project_id, trace_id }) => ({ project_id, trace_id }))
  return sql`json_to_recordset(${JSON.stringify(keys)}::json) as given (
    project_id uuid, trace_id uuid
  )`
}

function traceFrom(row: TraceRow): RecentTrace {
  return { ...row, first_start: BigInt(row.first_start), last_start: BigInt(row.last_start) }
}

import { sql } from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../contract.ts'

/** State of retention in a project. */
export type RetentionState = {
  /** The run that ended last. */
  last_run: LastRun | null
  /** Sums over the runs whose records are kept. */
  deleted_rows: number
  deleted_bytes: number
  /** Number of held items; an item with several holds counts once. */
  held_count: number
}

/** A run that ended, with the rows it deleted. */
export type LastRun = {
  job_id: string
  state: 'succeeded' | 'failed'
  ended_at: string
  deleted_rows: number
  deleted_bytes: number
}

/** Reads the state of retention in a project. `kind` is the kind of its runs. */
export async function readRetentionState(
  db: RetentionDb,
  { project_id, kind }: { project_id: string; kind: string },
): Promise<RetentionState> {
  const { rows } = await sql<StateRow>`
    with runs as (
      select id, state, ended_at, ${deleted('rows', 'row_count')} as deleted_rows,
        ${deleted('bytes', 'bytes')} as deleted_bytes
      from job_runs
      where project_id = ${project_id} and kind = ${kind} and state in ('succeeded', 'failed')
    ), held as (
      select distinct kind, value from legal_holds
      where project_id = ${project_id} and released_at is null
    )
    select last.id as job_id, last.state, last.ended_at,
      coalesce(last.deleted_rows, 0)::bigint as last_rows,
      coalesce(last.deleted_bytes, 0)::bigint as last_bytes,
      (select coalesce(sum(deleted_rows), 0)::bigint from runs) as deleted_rows,
      (select coalesce(sum(deleted_bytes), 0)::bigint from runs) as deleted_bytes,
      (select count(*)::bigint from held) as held_count
    from (select) as one
    left join lateral (select * from runs order by id desc limit 1) as last on true`.execute(db)
  const [row] = rows
  if (row === undefined) throw new TypeError('got no row of sums, expected one')
  const { deleted_rows, deleted_bytes, held_count } = row
  return { last_run: lastRunOf(row), deleted_rows, deleted_bytes, held_count }
}

type StateRow = {
  job_id: string | null
  state: LastRun['state'] | null
  ended_at: string | null
  last_rows: number
  last_bytes: number
  deleted_rows: number
  deleted_bytes: number
  held_count: number
}

/**
 * Returns SQL for the amount that a run deleted: by its result or, for a failed run, its buckets.
 */
function deleted(what: 'rows' | 'bytes', column: 'row_count' | 'bytes') {
  return sql<number>`coalesce(
    (result->>${sql.lit(`deleted_${what}`)})::bigint,
    (select sum(${sql.ref(`retention_buckets.${column}`)}) from retention_buckets
      where job_id = job_runs.id and action = 'delete'),
    0)`
}

function lastRunOf(row: StateRow): LastRun | null {
  const { job_id, state, ended_at, last_rows, last_bytes } = row
  if (job_id === null || state === null || ended_at === null) return null
  return { job_id, state, ended_at, deleted_rows: last_rows, deleted_bytes: last_bytes }
}

import { type Kysely, sql, type TaskTables } from '../../platform/relational/index.ts'
import type { ObservationStore } from '../storage/index.ts'

/**
 * Returns the task that the calls of a trace of the last one to two days joined, without headers that
 * name it; undefined for a trace that is a task of its own, or not known.
 */
export async function findJoinedTask(
  db: Kysely<TaskTables>,
  project_id: string,
  trace_id: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ joined_task_id: string | null }>`
    select joined_task_id from recent_traces
    where project_id = ${project_id} and trace_id = ${trace_id}`.execute(db)
  return rows[0]?.joined_task_id ?? undefined
}

/** A proxy makes the id of a trace when its call begins; clocks may differ by this much. */
const around_ns = 3_600_000_000_000n
const rows_max = 100

/** Returns the same for a trace of any age whose id the proxy made, from the stored calls. */
export async function readJoinedTask(
  store: Pick<ObservationStore, 'traceHeads'>,
  project_id: string,
  trace_id: string,
): Promise<string | undefined> {
  const made_ns = timeOf(trace_id)
  if (made_ns === undefined) return undefined
  const [from, to] = [made_ns - around_ns, made_ns + around_ns]
  const asked = { trace_ids: [trace_id], from, to, limit: rows_max }
  const rows = await store.traceHeads(project_id, asked)
  return rows.find((row) => row.source === 'proxy' && row.task_implicit)?.task_id
}

/** Returns the time in a UUIDv7 (RFC 9562), in nanoseconds since 1970; undefined for another id. */
function timeOf(uuid: string): bigint | undefined {
  if (uuid[14] !== '7') return undefined
  const ms = BigInt(`0x${uuid.slice(0, 8)}${uuid.slice(9, 13)}`)
  return ms < endOfTime_ms ? ms * 1_000_000n : undefined
}

/** Later times do not fit the stores. */
const endOfTime_ms = 9_214_646_400_000n

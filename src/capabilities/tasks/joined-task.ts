import { taskRuleAttribute } from '../../model/task-rules.ts'
import { type Kysely, sql, type TaskTables } from '../../platform/relational/index.ts'
import type { ObservationStore, StoredHead } from '../storage/index.ts'

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
/** Calls whose rule is read: a trace whose id the proxy made has one call of a client. */
const calls_max = 10

/** The reads of stored calls. */
export type CallReads = Pick<ObservationStore, 'traceHeads' | 'observationsAt'>

/** Returns the same for a trace of any age whose id the proxy made, from the stored calls. */
export async function readJoinedTask(
  store: CallReads,
  project_id: string,
  trace_id: string,
): Promise<string | undefined> {
  const made_ns = timeOf(trace_id)
  if (made_ns === undefined) return undefined
  const [from, to] = [made_ns - around_ns, made_ns + around_ns]
  const asked = { trace_ids: [trace_id], from, to, limit: rows_max }
  const rows = await store.traceHeads(project_id, asked)
  const joined = rows.filter((row) => row.source === 'proxy' && row.task_id !== trace_id)
  const implicit = joined.find(({ task_implicit }) => task_implicit)
  return (implicit ?? (await findLinked(store, project_id, joined)))?.task_id
}

/** Rules that link a call to an earlier one. They are asked only for calls without X-Task-ID. */
const linkRules: ReadonlySet<string> = new Set(['response_id', 'history'])

/** Returns the first call that joined a named task by a link, and not by a header of its own. */
async function findLinked(
  store: CallReads,
  project_id: string,
  rows: readonly StoredHead[],
): Promise<StoredHead | undefined> {
  if (rows.length === 0) return undefined
  const calls = rows.slice(0, calls_max)
  const found = await store.observationsAt(project_id, calls)
  const linked = new Set(
    found
      .filter(({ attributes }) => linkRules.has(attributes[taskRuleAttribute] ?? ''))
      .map(({ observation_id }) => observation_id),
  )
  return calls.find(({ observation_id }) => linked.has(observation_id))
}

/** Returns the time in a UUIDv7 (RFC 9562), in nanoseconds since 1970; undefined for another id. */
function timeOf(uuid: string): bigint | undefined {
  if (uuid[14] !== '7') return undefined
  const ms = BigInt(`0x${uuid.slice(0, 8)}${uuid.slice(9, 13)}`)
  return ms < endOfTimeMs ? ms * 1_000_000n : undefined
}

/** Later times do not fit the stores. */
const endOfTimeMs = 9_214_646_400_000n

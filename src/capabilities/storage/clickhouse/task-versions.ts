import type { Observation } from '../../../model/observation.ts'
import {
  identities_max,
  type ObservationIdentity,
  type ObservationVersion,
  type VersionsAsked,
} from '../contract.ts'
import {
  type ObservationRow,
  observationColumns,
  observationFrom,
  readExpression,
} from './observation-row.ts'
import type { Read } from './store-failure.ts'

/** Maximum rows of one page. */
const rows_max = 10_000

/** Maximum tasks of one statement: their ids are sent in the URL, at most 1 MiB. */
const tasks_max = 250

/** A row in JSONEachRow: 64-bit integers are text. */
type VersionRow = Omit<ObservationVersion, 'start_time' | 'stored_at_ms' | 'body_bytes'> & {
  start_ns: string
  stored_ms: string
  body_bytes: string
}

/** Reads the latest versions of tasks' observations, without content; see the port. */
export async function taskVersions(
  read: Read,
  projectId: string,
  { tasks, stored_from_ms, after, limit }: VersionsAsked,
): Promise<ObservationVersion[]> {
  if (tasks.length === 0) return []
  if (tasks.length > tasks_max) {
    throw new RangeError(`got ${tasks.length} tasks, expected at most ${tasks_max}`)
  }
  const rows = await read<VersionRow>(versionsSql(after !== undefined), {
    project: projectId,
    ids: tasks.map(({ task_id }) => task_id),
    from: ascending(tasks.map(({ from }) => from))[0] ?? 0n,
    stored_from: stored_from_ms ?? 0,
    limit: Math.min(limit, rows_max),
    ...(after && {
      after_task: after.task_id,
      after_start: after.start_time,
      after_id: after.observation_id,
      after_trace: after.trace_id,
    }),
  })
  return rows.map(({ start_ns, stored_ms, body_bytes, ...row }) => ({
    ...row,
    start_time: BigInt(start_ns),
    stored_at_ms: Number(stored_ms),
    body_bytes: Number(body_bytes),
  }))
}

/** Reads the latest versions of observations by identity, with content. */
export async function observationsAt(
  read: Read,
  projectId: string,
  ids: readonly ObservationIdentity[],
): Promise<Observation[]> {
  if (ids.length === 0) return []
  if (ids.length > identities_max) {
    throw new RangeError(`got ${ids.length} identities, expected at most ${identities_max}`)
  }
  const starts = ids.map(({ start_time }) => start_time)
  const inOrder = ascending(starts)
  const rows = await read<ObservationRow>(identitiesSql, {
    project: projectId,
    starts,
    traces: ids.map(({ trace_id }) => trace_id),
    ids: ids.map(({ observation_id }) => observation_id),
    first: inOrder[0] ?? 0n,
    last: inOrder.at(-1) ?? 0n,
  })
  return rows.map(observationFrom)
}

function ascending(instants: readonly bigint[]): bigint[] {
  return instants.toSorted((a, b) => (a < b ? -1 : 1))
}

const versionsSql = (hasAfter: boolean) => `
SELECT task_id, toUnixTimestamp64Nano(start_time) AS start_ns, trace_id, observation_id,
  type, message_id, user_id, toUnixTimestamp64Milli(ingested_at) AS stored_ms,
  request_bytes + response_bytes AS body_bytes
FROM observations
WHERE project_id = {project:UUID}
  AND start_time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
  AND task_id IN {ids:Array(String)}
  AND ingested_at >= fromUnixTimestamp64Milli({stored_from:Int64}, 'UTC')${hasAfter ? afterLast : ''}
ORDER BY task_id, start_time, observation_id, trace_id, ingested_at DESC, message_id DESC
LIMIT 1 BY task_id, start_time, observation_id, trace_id
LIMIT {limit:UInt32}`

const afterLast = `
  AND (task_id, start_time, observation_id, trace_id) >
    ({after_task:String}, fromUnixTimestamp64Nano({after_start:Int64}, 'UTC'),
      {after_id:String}, {after_trace:UUID})`

/** The window lets ClickHouse skip parts and granules before it compares identities. */
const identitiesSql = `
SELECT ${observationColumns.map(readExpression).join(', ')} FROM observations
WHERE project_id = {project:UUID}
  AND start_time >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')
  AND start_time <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
  AND (start_time, trace_id, observation_id) IN (
    SELECT fromUnixTimestamp64Nano(one.1, 'UTC'), one.2, one.3 FROM (
      SELECT arrayJoin(arrayZip({starts:Array(Int64)}, {traces:Array(UUID)}, {ids:Array(String)}))
        AS one))
ORDER BY start_time, observation_id, trace_id, ingested_at DESC, message_id DESC
LIMIT 1 BY start_time, trace_id, observation_id
LIMIT ${identities_max}`

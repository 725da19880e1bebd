import type { Columnar } from '../../../platform/columnar/index.ts'
import { observationHeadNames } from '../row-format/columns.ts'
import type {
  ObservationIdentity,
  OwnerChange,
  RowsToErase,
  StoredHead,
  TraceHeads,
} from '../trace-contract.ts'
import { rowChanges } from './change-rows.ts'
import { type Condition, ofProject } from './conditions.ts'
import { countOrNull, readExpression } from './observation-row.ts'
import type { Read } from './store-failure.ts'
import { tableTargets } from './table-target.ts'

/** A head in JSONEachRow: 64-bit integers are text. */
type HeadRow = Omit<StoredHead, 'start_time' | 'end_time' | 'cost_usd'> & {
  start_ns: string
  end_ns: string
  cost_text: string | null
}

/** Reads the heads of the rows of traces, each in its latest version; see the port. */
export async function traceHeads(
  read: Read,
  project_id: string,
  { trace_ids, from, to, limit }: TraceHeads,
): Promise<StoredHead[]> {
  const rows = await read<HeadRow>(project_id, headsSql, { traces: trace_ids, from, to, limit })
  return rows.map(({ start_ns, end_ns, cost_text, ...row }) => ({
    ...row,
    start_time: BigInt(start_ns),
    end_time: BigInt(end_ns),
    cost_usd: cost_text,
    input_uncached_tokens: countOrNull(row.input_uncached_tokens),
    cache_read_tokens: countOrNull(row.cache_read_tokens),
    cache_write_tokens: countOrNull(row.cache_write_tokens),
    output_visible_tokens: countOrNull(row.output_visible_tokens),
    reasoning_tokens: countOrNull(row.reasoning_tokens),
  }))
}

const headsSql = `
SELECT ${observationHeadNames.map(readExpression).join(', ')}, content_state, cluster_name
FROM observations
WHERE project_id = {project:UUID} AND trace_id IN {traces:Array(UUID)}
  AND start_time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
  AND start_time <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
ORDER BY trace_id, start_time, observation_id, ingested_at DESC, message_id DESC
LIMIT 1 BY trace_id, start_time, observation_id
LIMIT {limit:UInt32}`

/** Maximum rows of one statement: their keys are sent in the URL, at most 1 MiB. */
export const changes_max = 2_000

/**
 * Opens the changes of owners. Where the server has patches, a change writes a small part of its
 * own and does not depend on the size of the table (22 ms for a trace of a million rows);
 * elsewhere it rewrites the columns of the parts that have the rows.
 */
export function ownerChanges(
  columnar: Columnar,
): (project_id: string, changes: readonly OwnerChange[]) => Promise<void> {
  const targetOf = tableTargets(columnar)
  return async (project_id, changes) => {
    if (changes.length === 0) return
    const table = rowChanges(columnar, await targetOf('observations'), 'observations')
    for (let at = 0; at < changes.length; at += changes_max) {
      const { set, where } = statementFor(changes.slice(at, at + changes_max))
      await table.update(set, ofProject(project_id, where))
    }
  }
}

/** Opens the erasure of single observations, with the parts that belong to them. */
export function rowErasure(
  columnar: Columnar,
): (project_id: string, asked: RowsToErase) => Promise<void> {
  const targetOf = tableTargets(columnar)
  const remove = async (table: string, project_id: string, where: Condition) =>
    rowChanges(columnar, await targetOf(table), table).remove(ofProject(project_id, where))
  return async (project_id, { rows, users }) => {
    for (let at = 0; at < rows.length; at += changes_max) {
      const some = rows.slice(at, at + changes_max)
      await remove('observations', project_id, identitiesOf(some))
      const params = { traces: tracesOf(some), ids: some.map((row) => row.observation_id) }
      const parts = 'trace_id IN {traces:Array(UUID)} AND observation_id IN {ids:Array(String)}'
      for (const table of ['events', 'links', 'correlations']) {
        await remove(table, project_id, { sql: parts, params })
      }
      if (users.length === 0) continue
      const records = 'trace_id IN {traces:Array(UUID)} AND user_id IN {users:Array(String)}'
      await remove('traces', project_id, { sql: records, params: { traces: params.traces, users } })
    }
  }
}

function tracesOf(rows: readonly ObservationIdentity[]): string[] {
  return [...new Set(rows.map(({ trace_id }) => trace_id))]
}

/** The identity of a row as text. */
const key = `concat(toString(trace_id), ' ', observation_id, ' ',
  toString(toUnixTimestamp64Nano(start_time)))`

/** The place of a row's new values in the parameters. */
export const place = `transform(${key}, {keys:Array(String)}, {places:Array(UInt32)}, toUInt32(0))`

const textFields = [
  'task_id',
  'task_name',
  'conversation_id',
  'conversation_external_id',
  'user_id',
  'release',
  'counted_with',
] as const

const set = [
  ...textFields.map((field) => `${field} = {${field}s:Array(String)}[${place}]`),
  `task_implicit = {implicit:Array(UInt8)}[${place}] = 1`,
].join(', ')

/** Many rows have the same owner, so owners are sent once, and each row has the place of its own. */
function statementFor(changes: readonly OwnerChange[]) {
  const places = new Map<string, number>()
  const owners: OwnerChange[] = []
  const placeOf = (change: OwnerChange) => {
    const text = JSON.stringify([...textFields.map((field) => change[field]), change.task_implicit])
    const known = places.get(text)
    if (known !== undefined) return known
    owners.push(change)
    places.set(text, owners.length)
    return owners.length
  }
  const where = identitiesOf(changes)
  const params = {
    ...where.params,
    places: changes.map(placeOf),
    // ClickHouse reads no array of Bool.
    implicit: owners.map(({ task_implicit }) => (task_implicit ? 1 : 0)),
    ...Object.fromEntries(
      textFields.map((field) => [`${field}s`, owners.map((owner) => owner[field])]),
    ),
  }
  return { set, where: { sql: where.sql, params } }
}

/** Selects the versions of these observations; the range of starts lets ClickHouse skip others. */
export function identitiesOf(rows: readonly ObservationIdentity[]): Condition {
  const starts = rows.map(({ start_time }) => start_time).sort((a, b) => (a < b ? -1 : 1))
  const params = {
    keys: rows.map((row) => [row.trace_id, row.observation_id, row.start_time].join(' ')),
    traces: tracesOf(rows),
    first: starts[0] ?? 0n,
    last: starts.at(-1) ?? 0n,
  }
  const sql = `trace_id IN {traces:Array(UUID)}
    AND start_time >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')
    AND start_time <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    AND ${key} IN {keys:Array(String)}`
  return { sql, params }
}

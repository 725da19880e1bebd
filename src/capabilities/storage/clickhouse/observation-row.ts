import type { Observation } from '../../../model/observation.ts'
import { compileRowBinary, type RowBinaryColumn } from '../../../platform/columnar/index.ts'
import {
  identities_max,
  type ObservationIdentity,
  type ObservationVersion,
  type TimelineRow,
  type VersionsAsked,
} from '../contract.ts'
import { observationColumnTypes } from '../row-format/columns.ts'
import type { Read } from './store-failure.ts'

/** Columns that are read under another name and type, so that no digits are lost. */
type ConvertedColumn = 'start_time' | 'end_time' | 'usage_details' | DollarColumn

type DollarColumn = 'cost_usd' | 'cost_computed_usd' | 'cost_reported_usd'

type Count = `${string}_tokens` | `${string}_bytes`

/** A row in JSONEachRow: 64-bit integers are text. */
type Row<Columns extends ObservationColumn> = {
  [Column in Exclude<Columns, ConvertedColumn>]: Column extends Count
    ? string | null
    : Observation[Column]
} & {
  start_ns: string
  end_ns: string
  details: Record<string, string>
  cost_text: string | null
  computed_text: string | null
  reported_text: string | null
}

export type ObservationRow = Row<ObservationColumn>

export type TimelineJsonRow = Row<Exclude<ObservationColumn, 'input' | 'output'>>

/** Returns the SELECT expression of a column; `observationFrom` converts its value back. */
export function readExpression(column: ObservationColumn): string {
  if (column === 'start_time') return 'toUnixTimestamp64Nano(start_time) AS start_ns'
  if (column === 'end_time') return 'toUnixTimestamp64Nano(end_time) AS end_ns'
  if (column === 'cost_usd') return 'toString(cost_usd) AS cost_text'
  if (column === 'cost_computed_usd') return 'toString(cost_computed_usd) AS computed_text'
  if (column === 'cost_reported_usd') return 'toString(cost_reported_usd) AS reported_text'
  if (column === 'usage_details') return 'usage_details AS details'
  return column
}

export function observationFrom(row: ObservationRow): Observation {
  return { ...timelineRowFrom(row), input: row.input, output: row.output }
}

export function timelineRowFrom(row: TimelineJsonRow): TimelineRow {
  const { start_ns, end_ns, details, cost_text, computed_text, reported_text, ...rest } = row
  return {
    ...rest,
    start_time: BigInt(start_ns),
    end_time: BigInt(end_ns),
    usage_details: detailsFrom(details),
    cost_usd: cost_text,
    cost_computed_usd: computed_text,
    cost_reported_usd: reported_text,
    input_uncached_tokens: countOrNull(row.input_uncached_tokens),
    cache_read_tokens: countOrNull(row.cache_read_tokens),
    cache_write_tokens: countOrNull(row.cache_write_tokens),
    output_visible_tokens: countOrNull(row.output_visible_tokens),
    reasoning_tokens: countOrNull(row.reasoning_tokens),
    request_bytes: Number(row.request_bytes),
    response_bytes: Number(row.response_bytes),
  }
}

function detailsFrom(digits: Readonly<Record<string, string>>): Record<string, number> {
  return Object.fromEntries(Object.entries(digits).map(([name, text]) => [name, Number(text)]))
}

/** Reads a count that is sent as text, or as a number where it already is one. */
export function countOrNull(digits: string | number | null): number | null {
  return digits === null ? null : Number(digits)
}

/** A column of table `observations`. */
type ObservationColumn = keyof typeof observationColumnTypes

export const observationColumns: readonly ObservationColumn[] = Object.keys(
  observationColumnTypes,
) as ObservationColumn[]

/** Encodes observations as RowBinary, in the order of `observationColumns`. */
export const encodeObservations = compileRowBinary(
  observationColumns.map(
    (name): RowBinaryColumn<Observation> => ({ name, type: observationColumnTypes[name] }),
  ),
)

/** Maximum days of one insert. Each day is a partition and makes a part, which takes 10 ms. */
const days_max = 50

const day_ns = 86_400_000_000_000n

/**
 * Splits a batch into inserts of at most 50 days. A batch may span hundreds of days (a late
 * history, or wrong clocks), and as one statement could time out at every attempt. Deterministic: a
 * repeated batch makes the same inserts.
 */
export function splitByDays(
  observations: readonly Observation[],
): readonly (readonly Observation[])[] {
  const days = Map.groupBy(observations, ({ start_time }) => start_time / day_ns)
  if (days.size <= days_max) return [observations]
  const inOrder = [...days.values()]
  const batches: Observation[][] = []
  for (let at = 0; at < inOrder.length; at += days_max) {
    batches.push(inOrder.slice(at, at + days_max).flat())
  }
  return batches
}

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
  const rows = await read<VersionRow>(projectId, versionsSql(after !== undefined), {
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
  signal?: AbortSignal,
): Promise<Observation[]> {
  if (ids.length === 0) return []
  if (ids.length > identities_max) {
    throw new RangeError(`got ${ids.length} identities, expected at most ${identities_max}`)
  }
  const starts = ids.map(({ start_time }) => start_time)
  const inOrder = ascending(starts)
  const params = {
    starts,
    traces: ids.map(({ trace_id }) => trace_id),
    ids: ids.map(({ observation_id }) => observation_id),
    first: inOrder[0] ?? 0n,
    last: inOrder.at(-1) ?? 0n,
  }
  const rows = await read<ObservationRow>(projectId, identitiesSql, params, signal)
  return rows.map(observationFrom)
}

function ascending(instants: readonly bigint[]): bigint[] {
  return instants.toSorted((a, b) => (a < b ? -1 : 1))
}

const versionsSql = (hasAfter: boolean) => `
SELECT task_id, toUnixTimestamp64Nano(start_time) AS start_ns, trace_id, observation_id,
  type, message_id, counted_with, user_id, toUnixTimestamp64Milli(ingested_at) AS stored_ms,
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

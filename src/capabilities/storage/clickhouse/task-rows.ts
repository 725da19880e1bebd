import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import { countedCallSql } from '../../../model/observation.ts'
import type { QueryParams } from '../../../platform/columnar/index.ts'
import type { TaskPage, TimelineRow, TimelineSums, TimeWindow, ToolRowsAsked } from '../contract.ts'
import {
  observationColumns,
  readExpression,
  type TimelineJsonRow,
  timelineRowFrom,
} from './observation-row.ts'
import type { Read } from './store-failure.ts'
import { edges, ends, inWindow } from './time-window.ts'

/** Maximum rows of one page. */
const rows_max = 10_000

/** Maximum ids of one statement: they are sent in the URL, at most 1 MiB. */
const maxToolCallIds = 1_000

/** Reads observations of a task without content; see the port. */
export async function taskObservations(
  read: Read,
  projectId: string,
  taskId: string,
  page: TaskPage,
): Promise<TimelineRow[]> {
  const params = { task: taskId, ...pageParams(page) }
  const rows = await read<TimelineJsonRow>(projectId, pageSql(page), params, page.signal)
  return rows.map(timelineRowFrom)
}

/** Reads observations of a task by the ids of tool calls; see the port. */
export async function taskToolRows(
  read: Read,
  projectId: string,
  taskId: string,
  { tool_call_ids, order = 'asc', limit, signal, ...window }: ToolRowsAsked,
): Promise<TimelineRow[]> {
  if (tool_call_ids.length > maxToolCallIds) {
    throw new RangeError(`got ${tool_call_ids.length} ids, expected at most ${maxToolCallIds}`)
  }
  if (tool_call_ids.length === 0) return []
  const params = {
    task: taskId,
    ids: tool_call_ids,
    ...edges(window),
    limit: Math.min(limit, rows_max),
  }
  const rows = await read<TimelineJsonRow>(projectId, toolRowsSql(order), params, signal)
  return rows.map(timelineRowFrom)
}

/** Reads the sums over a part of a task; see the port. */
export async function taskSums(
  read: Read,
  projectId: string,
  taskId: string,
  { signal, ...window }: TimeWindow & { signal?: AbortSignal },
): Promise<TimelineSums> {
  const params = { task: taskId, ...edges(window) }
  const [row] = await read<SumsRow>(projectId, sumsSql, params, signal)
  const instant = (text: string | null | undefined) => (text == null ? undefined : BigInt(text))
  return {
    calls: Number(row?.calls ?? 0),
    errors: Number(row?.errors ?? 0),
    total_tokens: Number(row?.total_tokens ?? 0),
    nano_dollars: nanoDollarsFrom(row?.cost ?? '0'),
    first_start: instant(row?.first),
    last_start: instant(row?.last),
    last_end: instant(row?.end),
  }
}

function pageParams({ after, limit, order, ends_from, ...window }: TaskPage): QueryParams {
  const { from, to } = edges(window)
  return {
    // Lets ClickHouse skip parts; the exact position is compared in the statement.
    from: after && after.start_time > from ? after.start_time : from,
    to,
    ...(order !== 'desc' && {
      after_start: after?.start_time ?? ends.from,
      after_id: after?.observation_id ?? '',
    }),
    ...(ends_from !== undefined && { ends_from }),
    limit: Math.min(limit, rows_max),
  }
}

const contentColumns: readonly string[] = ['input', 'output']

/** The columns of a timeline row. */
export const timelineColumns = observationColumns
  .filter((column) => !contentColumns.includes(column))
  .map(readExpression)
  .join(', ')

/** Keeps the latest version of each observation. */
const latestVersion = `ingested_at DESC, message_id DESC
LIMIT 1 BY start_time, trace_id, observation_id`

/** Ends are compared after the latest version is known. */
function pageSql({ order = 'asc', ends_from }: TaskPage): string {
  const after = `
  AND (start_time, observation_id) >
    (fromUnixTimestamp64Nano({after_start:Int64}, 'UTC'), {after_id:String})`
  const rows = `SELECT ${timelineColumns} FROM observations
WHERE project_id = {project:UUID} AND ${inWindow} AND task_id = {task:String}${order === 'asc' ? after : ''}
ORDER BY start_time ${order}, observation_id ${order}, trace_id ${order}, ${latestVersion}`
  if (ends_from === undefined) return `${rows}\nLIMIT {limit:UInt32}`
  return `SELECT * FROM (${rows}) WHERE end_ns >= {ends_from:Int64}
ORDER BY start_ns ${order}, observation_id ${order}, trace_id ${order}
LIMIT {limit:UInt32}`
}

const toolRowsSql = (order: 'asc' | 'desc') => `
SELECT ${timelineColumns} FROM observations
WHERE project_id = {project:UUID} AND ${inWindow} AND task_id = {task:String}
  AND (hasAny(tool_calls.id, {ids:Array(String)})
    OR hasAny(tool_results.tool_call_id, {ids:Array(String)}))
ORDER BY start_time ${order}, observation_id ${order}, trace_id ${order}, ${latestVersion}
LIMIT {limit:UInt32}`

const buckets = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
]

type SumsRow = {
  calls: string
  errors: string
  total_tokens: string
  cost: string
  first: string | null
  last: string | null
  end: string | null
}

const sumsSql = `
SELECT countIf(is_call) AS calls, countIf(is_call AND status = 'error') AS errors,
  toUInt64(sumIf(tokens, is_call)) AS total_tokens,
  toString(sumIf(ifNull(cost_usd, toDecimal64(0, 9)), is_call)) AS cost,
  if(count() = 0, NULL, toUnixTimestamp64Nano(min(start_time))) AS first,
  if(count() = 0, NULL, toUnixTimestamp64Nano(max(start_time))) AS last,
  if(countIf(NOT encloses) = 0, NULL, toUnixTimestamp64Nano(maxIf(end_time, NOT encloses))) AS end
FROM (
  SELECT type, status, start_time, end_time, cost_usd,
    ${countedCallSql} AS is_call,
    type IN ('agent', 'chain', 'span') AS encloses,
    ${buckets.map((name) => `toFloat64(ifNull(${name}, 0))`).join(' + ')} AS tokens
  FROM observations
  WHERE project_id = {project:UUID} AND ${inWindow} AND task_id = {task:String}
  ORDER BY ${latestVersion}
) WHERE type != 'span' OR status = 'error'`

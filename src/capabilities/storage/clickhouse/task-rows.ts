import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import { countedCallSql } from '../../../model/observation.ts'
import type { QueryParams } from '../../../platform/columnar/index.ts'
import type {
  SumsAsked,
  TaskPage,
  TaskSums,
  TimelineRow,
  TimelineSums,
  ToolRowsAsked,
} from '../contract.ts'
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
const toolCallIds_max = 1_000

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
  if (tool_call_ids.length > toolCallIds_max) {
    throw new RangeError(`got ${tool_call_ids.length} ids, expected at most ${toolCallIds_max}`)
  }
  if (tool_call_ids.length === 0) return []
  const params = {
    ...{ task: taskId, ids: tool_call_ids, ...edges(window) },
    limit: Math.min(limit, rows_max),
  }
  const rows = await read<TimelineJsonRow>(projectId, toolRowsSql(order), params, signal)
  return rows.map(timelineRowFrom)
}

/** Reads the sums over a task; see the port. */
export async function taskSums(
  read: Read,
  projectId: string,
  taskId: string,
  { from, before, signal }: SumsAsked,
): Promise<TaskSums> {
  const params = { task: taskId, from, before }
  const [row] = await read<SumsRow>(projectId, sumsSql, params, signal)
  return { all: toSums(row?.all_sums), before: toSums(row?.before_sums) }
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

const timelineColumns = observationColumns
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

type SumsTuple = [
  ...[calls: string, errors: string, tokens: string, cost: string, operations: string],
  ...[tool_requests: string, tool_runs: string],
  ...[first_start: string | null, last_start: string | null, last_end: string | null],
]

type SumsRow = { all_sums: SumsTuple; before_sums: SumsTuple }

function toSums(tuple: SumsTuple | undefined): TimelineSums {
  const [calls, errors, tokens, cost, operations, requests, runs, first, last, end] = tuple ?? []
  const instant = (text: string | null | undefined) => (text == null ? undefined : BigInt(text))
  return {
    calls: Number(calls ?? 0),
    errors: Number(errors ?? 0),
    total_tokens: Number(tokens ?? 0),
    nano_dollars: nanoDollarsFrom(cost ?? '0'),
    operations: Number(operations ?? 0),
    tool_requests: Number(requests ?? 0),
    tool_runs: Number(runs ?? 0),
    first_start: instant(first),
    last_start: instant(last),
    last_end: instant(end),
  }
}

/** A tuple of sums over the rows that meet a condition. */
const sumsIf = (condition: string) => {
  const shown = `(is_call OR is_tool OR is_operation) AND ${condition}`
  const instant = (name: string, value: string, when: string) =>
    `if(countIf(${when}) = 0, NULL, ${name}If(toUnixTimestamp64Nano(${value}), ${when}))`
  return `tuple(countIf(is_call AND ${condition}),
    countIf(is_call AND status = 'error' AND ${condition}),
    toUInt64(sumIf(tokens, is_call AND ${condition})),
    toString(sumIf(ifNull(cost_usd, toDecimal64(0, 9)), is_call AND ${condition})),
    countIf(is_operation AND ${condition}),
    sumIf(requests, type = 'generation' AND is_call AND ${condition}),
    countIf(is_tool AND ${condition}),
    ${instant('min', 'start_time', shown)}, ${instant('max', 'start_time', shown)},
    ${instant('max', 'end_time', `(is_call OR is_tool OR NOT encloses) AND ${shown}`)})`
}

const sumsSql = `
SELECT ${sumsIf('true')} AS all_sums, ${sumsIf('is_before')} AS before_sums
FROM (
  SELECT type, status, start_time, end_time, cost_usd,
    start_time < fromUnixTimestamp64Nano({before:Int64}, 'UTC') AS is_before,
    ${countedCallSql} AS is_call, type = 'tool' AS is_tool,
    type IN ('agent', 'chain', 'span') AS encloses,
    type NOT IN ('generation', 'embedding', 'tool') AND (type != 'span' OR status = 'error') AS is_operation,
    length(tool_calls.id) AS requests,
    ${buckets.map((name) => `toFloat64(ifNull(${name}, 0))`).join(' + ')} AS tokens
  FROM observations
  WHERE project_id = {project:UUID} AND task_id = {task:String}
    AND start_time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
  ORDER BY ${latestVersion}
)`

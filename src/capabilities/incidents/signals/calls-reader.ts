import type { Columnar } from '../../../platform/columnar/index.ts'
import type { Group } from '../evaluation/groups.ts'
import { type Aggregate, groupedStatement, Parameters } from './grouped-statement.ts'
import { measurementTime_ms_max } from './measurement-error.ts'
import { mergeWindows, type ReadRequest, type ReadResult, type SourceReader } from './reading.ts'

/** Memory of one statement, so that one rule cannot stop the store. */
const memory_bytes_max = 1_073_741_824

/** Limits of each statement. */
export const measurementSettings = { max_memory_usage: memory_bytes_max, max_threads: 2 } as const

/** Opens the source `calls`: observations, each in its latest version, by their start. */
export function callsReader(columnar: Pick<Columnar, 'read'>): SourceReader {
  return (request) => readGroups(columnar, request, callsStatement(request))
}

type Statement = { text: string; params: Parameters['values'] }

/** A row in JSONEachRow: values of the group, cells as value and count, and the number of groups. */
type GroupRow = { g: string[]; a: [number | string | null, number | string][]; total: string }

/** Runs a statement of `groupedStatement`. */
export async function readGroups(
  columnar: Pick<Columnar, 'read'>,
  { group_by, signal }: ReadRequest,
  { text, params }: Statement,
): Promise<ReadResult> {
  const { rows } = await columnar.read<GroupRow>(text, params, {
    timeout_ms: measurementTime_ms_max,
    settings: measurementSettings,
    signal,
  })
  return {
    groups: rows.map(({ g, a }) => ({
      group: Object.fromEntries(group_by.map((one, at) => [one, g[at] ?? ''])) as Group,
      values: a.map(([value, count]) => ({
        value: value === null ? null : Number(value),
        count: Number(count),
      })),
    })),
    total: Number(rows[0]?.total ?? 0),
  }
}

/** Makes the statement of a request. */
export function callsStatement(request: ReadRequest): Statement {
  const parameters = new Parameters()
  const rows = callRows(request, parameters)
  const text = groupedStatement(request, { parameters, rows, aggregate: exactAggregate })
  return { text, params: parameters.values }
}

/** Makes the SELECT of the rows in any of the windows, in the units of the signals. */
export function callRows(
  { project_id, cells, selector, group_by }: ReadRequest,
  parameters: Parameters,
): string {
  const ranges = mergeWindows(cells.map(({ window }) => window)).map(
    ({ from_ms, to_ms }) =>
      `start_time >= ${parameters.instant(from_ms)} AND start_time < ${parameters.instant(to_ms)}`,
  )
  const readsTags = selector.tag !== undefined || group_by.includes('tag')
  return `SELECT ${callColumns}${readsTags ? `,\n  ${tagsColumn}` : ''}
  FROM (
    SELECT * FROM observations
    WHERE project_id = ${parameters.project(project_id)} AND ((${ranges.join(') OR (')}))
    ORDER BY ingested_at DESC, message_id DESC
    LIMIT 1 BY start_time, trace_id, observation_id
  )`
}

/** A call in the units of the signals. Agents and chains repeat the usage of their calls. */
const callColumns = `provider, model, model_requested, environment, task_name, release, task_id,
  toUnixTimestamp64Milli(start_time) AS t,
  type IN ('generation', 'embedding') AS is_call,
  is_call AND status = 'error' AS is_error,
  if(is_call, toFloat64(ifNull(cost_usd, 0)), 0) AS cost,
  if(is_call, toFloat64(ifNull(input_uncached_tokens, 0)) + ifNull(cache_read_tokens, 0)
    + ifNull(cache_write_tokens, 0) + ifNull(output_visible_tokens, 0)
    + ifNull(reasoning_tokens, 0), 0) AS tokens,
  greatest(0, (toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time)) / 1000000)
    AS latency,
  time_to_first_token_ms AS ttft`

/** Names under which frameworks write tags, in metadata or attributes; the first one counts. */
const tagNames = ['tags', 'langfuse.trace.tags', 'langfuse.tags', 'tag.tags']

const tags_max = 32

const tagText = `coalesce(${tagNames
  .flatMap((name) => [`nullIf(metadata['${name}'], '')`, `nullIf(attributes['${name}'], '')`])
  .join(', ')}, '')`

/** Tags are a JSON array, or text with commas. */
const tagsColumn = `${tagText} AS tag_text,
  arraySlice(arrayDistinct(arrayFilter(one -> one != '', if(startsWith(tag_text, '['),
    JSONExtract(tag_text, 'Array(String)'),
    arrayMap(one -> trimBoth(one), splitByChar(',', tag_text))))), 1, ${tags_max}) AS tags`

const exactAggregate: Aggregate = (amount, when) => {
  switch (amount) {
    case 'calls':
      return countOf(`countIf(is_call AND ${when})`)
    case 'errors':
      return countOf(`countIf(is_error AND ${when})`)
    case 'cost':
    case 'tokens':
      return `(sumIf(${amount}, ${when}), 0)`
    case 'task_cost':
      return `(sumIf(cost, task_id != '' AND ${when}), 0)`
    case 'task_tokens':
      return `(sumIf(tokens, task_id != '' AND ${when}), 0)`
    case 'call_tasks':
      return countOf(`uniqExactIf(task_id, is_call AND task_id != '' AND ${when})`)
    case 'latency':
      return nearestRank(`groupArrayIf(latency, is_call AND ${when})`)
    case 'ttft':
      return nearestRank(
        `groupArrayIf(assumeNotNull(ttft), is_call AND isNotNull(ttft) AND ${when})`,
      )
    default:
      return countOf(`countIf(${when})`)
  }
}

function countOf(count: string): string {
  return `(${count}, ${count})`
}

/** The 95th percentile by nearest rank: the value at ⌈0.95 n⌉, in integers. */
function nearestRank(values: string): string {
  const count = `length(${values})`
  const at = `arraySort(${values})[intDiv(95 * ${count} + 99, 100)]`
  return `(if(${count} = 0, NULL, ${at}), ${count})`
}

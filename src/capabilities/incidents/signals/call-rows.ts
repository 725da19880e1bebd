import type { Parameters } from './grouped-statement.ts'
import type { Window } from './reading.ts'

/** Which observations of a project are read. Tags are in large maps, which are read for rules that name tags. */
export type CallRowsRequest = {
  ranges: readonly Window[]
  readsTags: boolean
  /** More columns of observations. */
  columns?: readonly string[]
}

/** Makes the SELECT of observations in any of the ranges, each in its latest version. */
export function callRows(
  { ranges, readsTags, columns = [] }: CallRowsRequest,
  parameters: Parameters,
): string {
  const times = ranges.map(
    ({ from_ms, to_ms }) =>
      `start_time >= ${parameters.instant(from_ms)} AND start_time < ${parameters.instant(to_ms)}`,
  )
  return `SELECT ${[callColumns, ...columns].join(', ')}, ${readsTags ? tagsColumn : '[]::Array(String) AS tags'}
  FROM (
    SELECT * FROM observations
    WHERE project_id = {project:UUID} AND ((${times.join(') OR (')}))
    ORDER BY ingested_at DESC, message_id DESC
    LIMIT 1 BY start_time, trace_id, observation_id
  )`
}

/** A call in the units of the signals. Agents and chains repeat the usage of their calls. */
const callColumns = `toString(if(model != '', model, model_requested)) AS model_name,
  toString(provider) AS provider, toString(environment) AS environment, task_name,
  toString(release) AS release, task_id, toUnixTimestamp64Milli(start_time) AS t,
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

import { countedCallSql } from '../../../model/observation.ts'
import { countedAt, firstKnown, knownColumns, laterThan } from './counted-at.ts'
import type { Parameters } from './grouped-statement.ts'
import type { LateTiming } from './late-timing.ts'
import type { Window } from './reading.ts'

/** Which observations of a project are read. Tags are in large maps, which are read for rules that name tags. */
export type CallRowsRequest = {
  /** Ranges of the time `t` at which a call counts; see `countedAt`. */
  ranges: readonly Window[]
  timing: LateTiming
  /** False if no row that was stored since the first range is late; see `openLateCheck`. */
  hasLate?: boolean
  readsTags: boolean
  /** More columns of observations. */
  columns?: readonly string[]
}

const hour_ms = 3_600_000

/**
 * Maximum time from the start of a call to the time at which it counts: seven days. Observations are
 * sorted by their start; those stored before a range are skipped by the index `by_stored`.
 */
export const lookBackMs = 7 * 24 * hour_ms

/** Calls may start in the future, by wrong clocks. */
const ahead_ms = hour_ms

/** Makes the SELECT of observations that count in any of the ranges, each in its latest version. */
export function callRows(
  { ranges, timing, hasLate = true, readsTags, columns = [] }: CallRowsRequest,
  parameters: Parameters,
): string {
  const stored = ranges.map((range) => storedFor(range, parameters))
  const where = `project_id = {project:UUID} AND ((${stored.join(') OR (')}))`
  const started = startedFor(ranges, parameters)
  const late = `${where} AND ${laterThan(timing, parameters)}`
  const counted = ranges.map(
    ({ from_ms, to_ms }) =>
      `t >= ${parameters.add(BigInt(from_ms), 'Int64')} AND t < ${parameters.add(BigInt(to_ms), 'Int64')}`,
  )
  return `SELECT ${[callColumns, ...columns].join(', ')}, ${readsTags ? tagsColumn : '[]::Array(String) AS tags'}
  FROM (
    SELECT *, ${countedAt(timing, parameters, hasLate)} AS t
    FROM (
      SELECT *, ${knownColumns(timing)} FROM observations
      WHERE ${where}
      ORDER BY ingested_at DESC, message_id DESC
      LIMIT 1 BY start_time, trace_id, observation_id
    ) AS latest ${hasLate ? firstKnown(timing, { started, late }) : ''}
  ) WHERE (${counted.join(') OR (')})`
}

/**
 * Makes the condition of the rows that can count in a range: no row counts after it was stored. The
 * latest version of an observation meets it if any version does.
 */
function storedFor({ from_ms, to_ms }: Window, parameters: Parameters): string {
  return `start_time >= ${parameters.instant(from_ms - lookBackMs)}
        AND start_time < ${parameters.instant(to_ms + ahead_ms)}
        AND ingested_at >= ${parameters.instant(from_ms)}`
}

/** Makes the condition of the starts of all versions of the rows of ranges. */
function startedFor(ranges: readonly Window[], parameters: Parameters): string {
  const from_ms = Math.min(...ranges.map((range) => range.from_ms)) - lookBackMs
  const to_ms = Math.max(...ranges.map((range) => range.to_ms)) + ahead_ms
  return `start_time >= ${parameters.instant(from_ms)} AND start_time < ${parameters.instant(to_ms)}`
}

/** A call in the units of the signals. Agents and chains repeat the usage of their calls. */
const callColumns = `toString(if(model != '', model, model_requested)) AS model_name,
  toString(provider) AS provider, toString(environment) AS environment, task_name,
  toString(release) AS release, task_id, t,
  ${countedCallSql} AS is_call,
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

/** Makes the SELECT of whether a row that was stored since the first range is late. */
export function lateRows(
  { ranges, timing }: Pick<CallRowsRequest, 'ranges' | 'timing'>,
  parameters: Parameters,
): string {
  const from_ms = Math.min(...ranges.map((range) => range.from_ms))
  return `SELECT 1 FROM (SELECT start_time, ${knownColumns(timing)} FROM observations
    WHERE project_id = {project:UUID} AND ${startedFor(ranges, parameters)}
      AND ingested_at >= ${parameters.instant(from_ms)}
      AND ${laterThan(timing, parameters)}) LIMIT 1`
}

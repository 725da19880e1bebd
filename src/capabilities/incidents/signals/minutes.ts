import { parseProjectId } from '../../../model/project-id.ts'
import type { Columnar, ProjectColumnar } from '../../../platform/columnar/index.ts'
import { type CallRowsRequest, callRows, lookBackMs } from './call-rows.ts'
import { countedAt, firstKnown, knownColumns, laterThan } from './counted-at.ts'
import { Parameters } from './grouped-statement.ts'
import { defaultTiming } from './late-timing.ts'
import { maxMeasurementTimeMs } from './measurement-error.ts'
import { mergeWindows, type Window } from './reading.ts'

export const minute_ms = 60_000
const hour_ms = 60 * minute_ms
const day_ms = 24 * hour_ms

/** Age at which the table drops minutes is 35 days. Older windows are read from observations. */
export const minutesKeptMs = 34 * day_ms

/** Up to when the minutes of a project have all rows that were stored. */
export type Done = { until_ms: number; late_until_ms: number }

/** Reads up to when the minutes of a project are complete; undefined before they are filled. */
export async function readDone(
  ofProject: Pick<ProjectColumnar, 'read'>,
  signal: AbortSignal,
): Promise<Done | undefined> {
  const { rows } = await ofProject.read<{ done: string; late: string }>(
    `SELECT toUnixTimestamp64Milli(max(until)) AS done,
       toUnixTimestamp64Milli(argMax(late_until, until)) AS late
     FROM signal_minutes_done WHERE project_id = {project:UUID} GROUP BY project_id`,
    {},
    { timeout_ms: maxMeasurementTimeMs, signal },
  )
  const [row] = rows
  return row && { until_ms: Number(row.done), late_until_ms: Number(row.late) }
}

/** How a refresh finds changed minutes. */
export type RefreshSettings = {
  /** Differences of clocks, and lag of replicas: rows that are this young may not be visible yet. */
  overlap_ms: number
  /** Rows of recent days are searched for at every refresh, older ones after this time. */
  late_every_ms: number
}

export const refreshDefaults: RefreshSettings = {
  overlap_ms: 5 * minute_ms,
  late_every_ms: 10 * minute_ms,
}

/** Rows may start in the future, by wrong clocks. */
const ahead_ms = hour_ms

/** Maximum stretches of minutes of one statement. */
const ranges_max = 50

/**
 * Recomputes the minutes of a project whose rows changed since the last refresh, or all of them.
 * Safe to repeat and to run concurrently: the newest version of a minute was computed last. Resolves
 * with the number of recomputed minutes.
 */
export async function refreshMinutes(
  columnar: Pick<Columnar, 'ofProject' | 'acrossProjects'>,
  project_id: string,
  { signal, overlap_ms, late_every_ms }: RefreshSettings & { signal: AbortSignal },
): Promise<number> {
  const ofProject = columnar.ofProject(parseProjectId(project_id))
  const now_ms = await serverTime(columnar, signal)
  const done = await readDone(ofProject, signal)
  const isLate = done === undefined || now_ms - done.late_until_ms >= late_every_ms
  const known_ms = isLate ? done?.late_until_ms : done.until_ms
  const stored_from_ms = known_ms === undefined ? 0 : known_ms - overlap_ms
  const from_ms = Math.floor((now_ms - (isLate ? minutesKeptMs : lookBackMs)) / day_ms) * day_ms
  const window = { from_ms, to_ms: now_ms + ahead_ms }
  const changed = await changedMinutes(ofProject, { window, stored_from_ms }, signal)
  const ranges = mergeWindows(
    changed.map((at_ms) => ({ from_ms: at_ms, to_ms: at_ms + minute_ms })),
  )
  for (const some of inStatements(ranges)) {
    signal.throwIfAborted()
    await recompute(ofProject, { ranges: some, timing: defaultTiming, readsTags: true }, signal)
  }
  await writeDone(ofProject, {
    until_ms: now_ms,
    late_until_ms: isLate ? now_ms : done.late_until_ms,
  })
  return changed.length
}

async function serverTime(
  columnar: Pick<Columnar, 'acrossProjects'>,
  signal: AbortSignal,
): Promise<number> {
  const sql = 'SELECT toUnixTimestamp64Milli(now64(3)) AS now'
  const { rows } = await columnar
    .acrossProjects('catalogue')
    .read<{ now: string }>(sql, {}, { signal })
  return Number(rows[0]?.now)
}

/**
 * Finds the minutes in which calls count that were stored at or after an instant, in order. A call
 * that was sent again with another end left the minute of its former end, which another version shows
 * until parts merge. The minute of its start is always among them: there counted a call that was
 * first sent when it began.
 */
async function changedMinutes(
  ofProject: Pick<ProjectColumnar, 'read'>,
  { window, stored_from_ms }: { window: Window; stored_from_ms: number },
  signal: AbortSignal,
): Promise<number[]> {
  const parameters = new Parameters()
  const started = `start_time >= ${parameters.instant(window.from_ms)}
      AND start_time < ${parameters.instant(window.to_ms)}`
  const stored = `project_id = {project:UUID} AND ${started}
      AND ingested_at >= ${parameters.instant(stored_from_ms)}`
  const isFew = window.to_ms - stored_from_ms <= maxVersionsOfMs
  const versions = `project_id = {project:UUID} AND ${started}
      AND (start_time, trace_id, observation_id) GLOBAL IN (
        SELECT start_time, trace_id, observation_id FROM observations WHERE ${stored})`
  const late = `${stored} AND ${laterThan(defaultTiming, parameters)}`
  const instants = `${countedAt(defaultTiming, parameters)}, toUnixTimestamp64Milli(start_time)`
  const text = `SELECT DISTINCT intDiv(arrayJoin([${instants}]), ${minute_ms}) AS minute
    FROM (
      SELECT start_time, trace_id, observation_id, ${knownColumns(defaultTiming)} FROM observations
      WHERE ${isFew ? versions : stored}
    ) AS version ${firstKnown(defaultTiming, { started, late })}
    ORDER BY minute`
  const { rows } = await ofProject.read<{ minute: string }>(text, parameters.values, {
    timeout_ms: refresh_ms_max,
    settings: { max_threads: 1 },
    signal,
  })
  return rows.map(({ minute }) => Number(minute) * minute_ms)
}

/** Rows of a longer time are too many to look for their other versions. */
const maxVersionsOfMs = 2 * hour_ms

/** Maximum time of a statement of a refresh, which may fill a day. */
const refresh_ms_max = 60_000

/** Distributes ranges over statements, each of at most a day in at most 50 ranges. */
function inStatements(ranges: readonly Window[]): Window[][] {
  const statements: Window[][] = []
  let length_ms = day_ms
  for (const { from_ms, to_ms } of ranges.flatMap(splitByDays)) {
    const last = statements.at(-1)
    length_ms += to_ms - from_ms
    if (last === undefined || length_ms > day_ms || last.length >= ranges_max) {
      statements.push([{ from_ms, to_ms }])
      length_ms = to_ms - from_ms
    } else last.push({ from_ms, to_ms })
  }
  return statements
}

function splitByDays({ from_ms, to_ms }: Window): Window[] {
  const days = Math.ceil((to_ms - from_ms) / day_ms)
  return Array.from({ length: days }, (_, day) => ({
    from_ms: from_ms + day * day_ms,
    to_ms: Math.min(to_ms, from_ms + (day + 1) * day_ms),
  }))
}

async function recompute(
  ofProject: Pick<ProjectColumnar, 'insertSelect'>,
  request: CallRowsRequest,
  signal: AbortSignal,
): Promise<void> {
  const parameters = new Parameters()
  const dimensions = `model_name, ${plainDimensions}, tags`
  const text = `INSERT INTO signal_minutes (project_id, minute, model, ${plainDimensions}, tags,
    observations, calls, errors, cost, tokens, task_cost, task_tokens, tasks, latency, ttft, version)
  SELECT {project:UUID}, toDateTime(intDiv(t, ${minute_ms}) * 60, 'UTC') AS start, ${dimensions},
    sum(observations), sum(calls), sum(errors), sum(cost), sum(tokens), sum(task_cost),
    sum(task_tokens), groupUniqArrayArray(tasks), sumMap(latency_buckets), sumMap(ttft_buckets), now64(3)
  FROM (${rowsAsMinutes(request, parameters)}
    UNION ALL ${emptyMinutes(request.ranges, parameters)})
  GROUP BY start, ${dimensions}`
  await ofProject.insertSelect(text, parameters.values, {
    timeout_ms: refresh_ms_max,
    settings: { max_threads: 1, insert_distributed_sync: 1 },
    signal,
  })
}

/**
 * Makes a row without observations for each minute, so that a minute which lost its last call has a
 * newer version too. No call has the tag ''.
 */
function emptyMinutes(ranges: readonly Window[], parameters: Parameters): string {
  const minutes = ranges.flatMap(({ from_ms, to_ms }) => {
    const count = Math.ceil((to_ms - from_ms) / minute_ms)
    return Array.from({ length: count }, (_, at) => BigInt(from_ms + at * minute_ms))
  })
  const none = ['observations', 'calls', 'errors'].map((name) => `toUInt64(0) AS ${name}`)
  const sums = ['cost', 'tokens', 'task_cost', 'task_tokens'].map((one) => `toFloat64(0) AS ${one}`)
  const texts = ['model_name', ...plainDimensions.split(', ')].map((name) => `'' AS ${name}`)
  return `SELECT ${texts.join(', ')}, [''] AS tags,
      arrayJoin(${parameters.add(minutes, 'Array(Int64)')}) AS t, ${none.join(', ')},
      ${sums.join(', ')}, []::Array(UInt64) AS tasks, ${noBuckets} AS latency_buckets,
      ${noBuckets} AS ttft_buckets`
}

/** Columns of minutes that are named as in observations. */
const plainDimensions = 'provider, environment, task_name, release'

/** Makes rows of observations that have the columns of minutes, and their time `t`. */
export function rowsAsMinutes(request: CallRowsRequest, parameters: Parameters): string {
  return `SELECT model_name, ${plainDimensions}, tags, t, toUInt64(1) AS observations,
    toUInt64(is_call) AS calls, toUInt64(is_error) AS errors, cost, tokens,
    if(task_id = '', 0, cost) AS task_cost, if(task_id = '', 0, tokens) AS task_tokens,
    if(is_call AND task_id != '', [cityHash64(task_id)], []::Array(UInt64)) AS tasks,
    if(is_call, map(${bucketOf('latency')}, toUInt64(1)), ${noBuckets}) AS latency_buckets,
    if(is_call AND isNotNull(ttft), map(${bucketOf('assumeNotNull(ttft)')}, toUInt64(1)),
      ${noBuckets}) AS ttft_buckets
  FROM (${callRows(request, parameters)})`
}

/**
 * Buckets of latencies in ms, so that percentiles of minutes can be added up: bucket 0 is below
 * 10 ms, each of the next 62 is 2^0.3 times as wide as its neighbour below, and the last one begins at
 * 66 minutes. The value of a bucket is its geometric middle, which is at most 11 % (2^0.15) from
 * every latency between 10 ms and 66 minutes.
 */
const least_ms = 10

const bucketStep = 0.3

const lastBucket = 63

/** Makes the SQL expression of the bucket of a latency. */
function bucketOf(latency: string): string {
  return `toUInt8(if(${latency} < ${least_ms}, 0, least(${lastBucket}, 1 + floor(log2(${latency} / ${least_ms}) / ${bucketStep}))))`
}

/** Makes the SQL expression of the value of a bucket. */
function bucketValue(bucket: string): string {
  return `${least_ms} * exp2(${bucketStep} * ${bucket} - ${bucketStep / 2})`
}

/** Makes a cell: the 95th percentile by nearest rank of counts by bucket, and their sum. */
export function bucketsRank(counts: string): string {
  const count = `arraySum(mapValues(${counts}))`
  const rank = `intDiv(95 * ${count} + 99, 100)`
  const at = `arrayFirstIndex(one -> one >= ${rank}, arrayCumSum(mapValues(${counts})))`
  return `(if(${count} = 0, NULL, ${bucketValue(`mapKeys(${counts})[${at}]`)}), ${count})`
}

const noBuckets = 'map()::Map(UInt8, UInt64)'

async function writeDone(
  ofProject: Pick<ProjectColumnar, 'insertSelect'>,
  { until_ms, late_until_ms }: Done,
): Promise<void> {
  const parameters = new Parameters()
  const times = [until_ms, late_until_ms].map((at_ms) => parameters.instant(at_ms))
  await ofProject.insertSelect(
    `INSERT INTO signal_minutes_done (project_id, until, late_until)
     SELECT {project:UUID}, ${times.join(', ')}`,
    parameters.values,
    { settings: { insert_distributed_sync: 1 } },
  )
}

import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import type { Clock } from '../../../kernel/time.ts'
import { parseProjectId } from '../../../model/project-id.ts'
import type { Columnar } from '../../../platform/columnar/index.ts'
import { countOf, readsTags } from './calls-reader.ts'
import { type Aggregate, groupedStatement, Parameters, readGroups } from './grouped-statement.ts'
import { defaultTiming } from './late-timing.ts'
import { bucketsRank, minute_ms, minutesKeptMs, readDone, rowsAsMinutes } from './minutes.ts'
import {
  mergeWindows,
  type ReadRequest,
  type SourceReader,
  type Window,
  windowsOf,
} from './reading.ts'

/** Age at which a minute is read from the sums: younger ones may still be incomplete. */
const settled_ms = 5 * minute_ms

/** Time for which it is not asked again up to when the sums of a project are complete. */
const fresh_ms = 10_000
const projects_max = 10_000

type MinutesParts = { columnar: Pick<Columnar, 'ofProject'>; clock: Clock }

/**
 * Opens the source `minutes`: the same calls as the source `calls`, from the sums of whole minutes,
 * and from observations where a window begins or ends inside a minute or the sums are not complete.
 * Percentiles are those of buckets (`minutes.ts`).
 */
export function minutesReader({ columnar, clock }: MinutesParts): SourceReader {
  const known = new BoundedCache<string, { at_ms: number; until_ms: number }>(projects_max)
  const completeUntil = async (project_id: string, signal: AbortSignal): Promise<number> => {
    const now_ms = clock.now_ms()
    const cached = known.get(project_id)
    if (cached !== undefined && Math.abs(now_ms - cached.at_ms) < fresh_ms) return cached.until_ms
    const done = await readDone(columnar.ofProject(parseProjectId(project_id)), signal)
    const until_ms = done === undefined ? 0 : floorMinute(done.until_ms - settled_ms)
    known.set(project_id, { at_ms: now_ms, until_ms })
    return until_ms
  }
  return async (request) => {
    const until_ms = await completeUntil(request.project_id, request.signal)
    const from_ms = ceilMinute(clock.now_ms() - minutesKeptMs)
    const parameters = new Parameters()
    const rows = minuteRows(request, { from_ms, to_ms: until_ms }, parameters)
    const text = groupedStatement(request, { parameters, rows, aggregate })
    return readGroups(columnar, request, { text, params: parameters.values })
  }
}

function floorMinute(at_ms: number): number {
  return Math.floor(at_ms / minute_ms) * minute_ms
}

function ceilMinute(at_ms: number): number {
  return Math.ceil(at_ms / minute_ms) * minute_ms
}

/** Splits the windows of a request: whole minutes inside `complete`, and the rest. */
function splitRanges(
  windows: readonly Window[],
  complete: Window,
): { minutes: Window[]; rows: Window[] } {
  const edges = new Set<number>()
  for (const { from_ms, to_ms } of windows) {
    for (const edge of [from_ms, to_ms]) if (edge % minute_ms !== 0) edges.add(floorMinute(edge))
  }
  // Ends of stretches of whole minutes: where the sums begin and end, and the minutes of edges.
  const holes = [...edges].map((at_ms) => ({ from_ms: at_ms, to_ms: at_ms + minute_ms }))
  const outside = [
    { from_ms: Number.NEGATIVE_INFINITY, to_ms: complete.from_ms },
    { from_ms: Math.max(complete.from_ms, complete.to_ms), to_ms: Number.POSITIVE_INFINITY },
  ]
  const excluded = mergeWindows([...outside, ...holes])
  const merged = mergeWindows(windows)
  return {
    rows: intersect(merged, excluded),
    minutes: intersect(merged, complementOf(excluded)),
  }
}

function complementOf(windows: readonly Window[]): Window[] {
  return windows
    .slice(1)
    .map(({ from_ms }, at) => ({ from_ms: windows[at]?.to_ms ?? 0, to_ms: from_ms }))
}

function intersect(some: readonly Window[], others: readonly Window[]): Window[] {
  return some.flatMap((one) =>
    others.flatMap((other) => {
      const from_ms = Math.max(one.from_ms, other.from_ms)
      const to_ms = Math.min(one.to_ms, other.to_ms)
      return from_ms < to_ms ? [{ from_ms, to_ms }] : []
    }),
  )
}

function minuteRows(request: ReadRequest, complete: Window, parameters: Parameters): string {
  const windows = windowsOf(request)
  const { minutes, rows } = splitRanges(windows, complete)
  const about = { readsTags: readsTags(request), timing: defaultTiming }
  return [
    ...(minutes.length > 0 ? [storedMinutes(minutes, parameters)] : []),
    ...(rows.length > 0 ? [rowsAsMinutes({ ...about, ranges: rows }, parameters)] : []),
  ].join('\n  UNION ALL\n  ')
}

function storedMinutes(ranges: readonly Window[], parameters: Parameters): string {
  const second = (at_ms: number) => parameters.add(at_ms / 1_000, "DateTime('UTC')")
  const times = ranges.map(
    ({ from_ms, to_ms }) => `minute >= ${second(from_ms)} AND minute < ${second(to_ms)}`,
  )
  const where = `project_id = {project:UUID} AND ((${times.join(') OR (')}))`
  return `SELECT model AS model_name, toString(provider) AS provider, environment, task_name, release,
    tags, toInt64(toUnixTimestamp(minute)) * 1000 AS t, observations, calls, errors, cost, tokens,
    task_cost, task_tokens, tasks, latency AS latency_buckets, ttft AS ttft_buckets
  FROM signal_minutes
  WHERE ${where} AND observations > 0 AND (minute, version) GLOBAL IN (
    SELECT minute, max(version) FROM signal_minutes WHERE ${where} GROUP BY minute)`
}

const aggregate: Aggregate = (amount, when) => {
  switch (amount) {
    case 'calls':
    case 'errors':
      return countOf(`sumIf(${amount}, ${when})`)
    case 'cost':
    case 'tokens':
    case 'task_cost':
    case 'task_tokens':
      return `(sumIf(${amount}, ${when}), 0)`
    case 'call_tasks':
      return countOf(`uniqExactArrayIf(tasks, ${when})`)
    case 'latency':
    case 'ttft':
      return bucketsRank(`sumMapIf(${amount}_buckets, ${when})`)
    default:
      return countOf(`sumIf(observations, ${when})`)
  }
}

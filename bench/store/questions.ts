import { projectOf, span } from './generated-rows.ts'

/** A query in two ways: as its body in the query language, and as handwritten SQL. */
export type Question = {
  name: string
  goal_ms: number
  project_id: string
  kind: 'page' | 'aggregate'
  /** Rounds ask the same for other hours or traces, so that no cache of answers helps. */
  body(at: Moment): Record<string, unknown>
  hand(at: Moment): { sql: string; params: Readonly<Record<string, string | number | bigint>> }
}

/** Differences between rounds: the end of the window and a trace that began in it. */
export type Moment = { to_ms: number; trace_id: string; trace_ms: number }

/** Every question for the largest project, and those that read much for a middle one as well. */
export function questions(): Question[] {
  const largest = projectOf(0)
  const middle = projectOf(4)
  return [
    hourlyP95('hourly p95 by model, 7 days', largest),
    hourlyP95('the same, a middle project', middle),
    sums('token and cost sums by model, 7 days', largest),
    sums('the same, a middle project', middle),
    topErrors('top errors by type and model, 7 days', largest),
    latest('latest 50, 7 days', largest),
    latest('latest 50 with content, 7 days', largest, content),
    trace('trace by id, 30 days', largest, ({ to_ms }) => windowOf(to_ms, 30 * 24)),
    trace('trace by id, 2 hours', largest, ({ trace_ms }) => windowOf(trace_ms + hour_ms, 2)),
  ]
}

/** The latest hours, which are in PostgreSQL too. */
export const hotWindow = { from_ms: span.to_ms - 72 * 3_600_000, hours: 72 } as const

/** Questions to both stores about the hot window: windows that all begin with it. */
export function hotQuestions(): Question[] {
  const largest = projectOf(0)
  const hot = ({ to_ms }: Moment) => ({
    from: new Date(hotWindow.from_ms).toISOString(),
    to: new Date(to_ms).toISOString(),
  })
  return [
    latest('latest 50', largest, small, hot),
    trace('trace by id', largest, hot),
    hourlyP95('hourly p95 by model', largest, hot),
    sums('token and cost sums by model', largest, hot),
  ]
}

const hour_ms = 3_600_000
const call = { field: 'is_call', op: 'eq', value: true }
const isCall = "type IN ('generation', 'embedding')"
const inWindow = `project_id = {project:UUID}
  AND start_time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
  AND start_time < fromUnixTimestamp64Nano({to:Int64}, 'UTC')`

type Window = { from: string; to: string }

function windowOf(to_ms: number, hours: number): Window {
  const iso = (ms: number) => new Date(ms).toISOString()
  return { from: iso(to_ms - hours * hour_ms), to: iso(to_ms) }
}

type WindowAt = (at: Moment) => Window

const week: WindowAt = ({ to_ms }: Moment) => windowOf(to_ms, 7 * 24)

function handParams(project: string, { from, to }: Window) {
  const ns = (iso: string) => BigInt(Date.parse(iso)) * 1_000_000n
  return { project, from: ns(from), to: ns(to) }
}

function hourlyP95(name: string, project_id: string, window = week): Question {
  return {
    name,
    goal_ms: 50,
    project_id,
    kind: 'aggregate',
    body: (at) => ({
      entity: 'observations',
      window: window(at),
      where: call,
      measures: [{ fn: 'p95', field: 'duration_ms', as: 'p95_ms' }],
      group_by: ['model', { time_bucket: '1h' }],
      limit: 10_000,
    }),
    hand: (at) => ({
      sql: `SELECT model, toStartOfHour(start_time) AS hour,
  quantileExactInclusive(0.95)(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time)) / 1e6 AS p95_ms
FROM observations FINAL WHERE ${inWindow} AND ${isCall}
GROUP BY model, hour ORDER BY hour, model LIMIT 10001`,
      params: handParams(project_id, window(at)),
    }),
  }
}

const tokenColumns = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
]

function sums(name: string, project_id: string, window = week): Question {
  const total = tokenColumns.map((column) => `sum(${column})`).join(', ')
  return {
    name,
    goal_ms: 50,
    project_id,
    kind: 'aggregate',
    body: (at) => ({
      entity: 'observations',
      window: window(at),
      where: call,
      measures: [
        { fn: 'sum', field: 'total_tokens', as: 'tokens' },
        { fn: 'sum', field: 'cost_usd', as: 'cost' },
      ],
      group_by: ['model'],
    }),
    hand: (at) => ({
      sql: `SELECT model, arraySum(x -> ifNull(x, 0), [${total}]) AS tokens, toString(sum(cost_usd)) AS cost
FROM observations FINAL WHERE ${inWindow} AND ${isCall}
GROUP BY model ORDER BY tokens DESC LIMIT 51`,
      params: handParams(project_id, window(at)),
    }),
  }
}

function topErrors(name: string, project_id: string): Question {
  return {
    name,
    goal_ms: 50,
    project_id,
    kind: 'aggregate',
    body: (at) => ({
      entity: 'observations',
      window: week(at),
      where: { field: 'has_error', op: 'eq', value: true },
      measures: [{ fn: 'count', as: 'errors' }],
      group_by: ['error_type', 'model'],
      limit: 20,
    }),
    hand: (at) => ({
      sql: `SELECT error_type, model, count() AS errors
FROM observations FINAL WHERE ${inWindow} AND status = 'error'
GROUP BY error_type, model ORDER BY errors DESC, error_type, model LIMIT 21`,
      params: handParams(project_id, week(at)),
    }),
  }
}

const small = ['trace_id', 'observation_id', 'start_time', 'name', 'model', 'status', 'cost_usd']
const content = [...small, 'input', 'output']

function latest(
  name: string,
  project_id: string,
  select: readonly string[] = small,
  window = week,
): Question {
  return {
    name,
    goal_ms: 20,
    project_id,
    kind: 'page',
    body: (at) => ({ entity: 'observations', window: window(at), select, limit: 50 }),
    hand: (at) => ({
      sql: `SELECT ${select.join(', ')} FROM observations WHERE ${inWindow} AND start_time >= (
  SELECT min(start_time) FROM (SELECT start_time FROM observations WHERE ${inWindow}
    ORDER BY start_time DESC LIMIT 120))
ORDER BY start_time DESC, trace_id DESC, observation_id DESC, ingested_at DESC
LIMIT 1 BY start_time, trace_id, observation_id LIMIT 51`,
      params: handParams(project_id, window(at)),
    }),
  }
}

function trace(name: string, project_id: string, window: WindowAt): Question {
  return {
    name,
    goal_ms: 20,
    project_id,
    kind: 'page',
    body: (at) => ({
      entity: 'observations',
      window: window(at),
      where: { field: 'trace_id', op: 'eq', value: at.trace_id },
      select: content,
      order_by: [{ field: 'start_time', direction: 'asc' }],
      limit: 1_000,
    }),
    hand: (at) => ({
      sql: `SELECT ${content.join(', ')} FROM observations WHERE ${inWindow} AND trace_id = {trace:UUID}
ORDER BY start_time, trace_id, observation_id, ingested_at DESC
LIMIT 1 BY start_time, trace_id, observation_id LIMIT 1001`,
      params: { ...handParams(project_id, window(at)), trace: at.trace_id },
    }),
  }
}

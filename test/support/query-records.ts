import { dollarsFrom, nanoDollarsFrom } from '../../src/kernel/dollars.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { observationOf } from './observations.ts'
import type { PlainRecord } from './query-evaluation.ts'
import { filtersOver, groupsOver, ordersOver } from './query-filters.ts'

/** About 2026-09-21T14:00:00Z: the start of the records of query tests. */
export const queryStart = 1_790_000_400_000_000_000n

const second = 1_000_000_000n
const names = ['chat', 'plan', 'search', "it's", 'ü\\n']
const models = ['m-1', 'm-2', '']
/** Mostly unknown, as for clients that do not name their users. */
const users = ['', 'ana', '', 'Ben', '', 'zoë', '']
const environments = ['prod', '', 'staging', 'Prod', '']
const statuses = ['ok', 'error', 'cancelled'] as const
const costs = [null, '0.5', '0.000000001', '12.25', '0.1']

/** Their order as text differs from ClickHouse's order by the last eight bytes. */
const traceIds = Array.from({ length: 25 }, (_, at) => {
  const [first, last] = [255 - ((at * 7) % 25), at]
  return `${first.toString(16)}98c0de-0000-7000-8000-00000000${String(last).padStart(4, '0')}`
})

/** Observations in their first version, and then some of them again with other values. */
export function observationVersions(project_id: string): Observation[][] {
  const first = Array.from({ length: 120 }, (_, at) => anObservation(project_id, at, at))
  const second = first.flatMap(({ trace_id }, at) =>
    at % 3 === 0 ? [{ ...anObservation(project_id, at, at * 7 + 3), trace_id }] : [],
  )
  const third = first.flatMap(({ trace_id }, at) =>
    at % 9 === 0 ? [{ ...anObservation(project_id, at, at * 11 + 5), trace_id }] : [],
  )
  return [first, second, third]
}

/** The last version of each observation. */
export function latestOf(versions: readonly (readonly Observation[])[]): Observation[] {
  const byId = new Map(versions.flat().map((each) => [each.observation_id, each]))
  return [...byId.values()]
}

function anObservation(project_id: string, at: number, seed: number): Observation {
  const start_time = queryStart + BigInt(at % 40) * 80n * second + 123_456_789n
  const id = String(at).padStart(4, '0')
  return observationOf({
    project_id,
    trace_id: traceIds[at % 25] ?? '',
    observation_id: `obs-${id}`,
    parent_observation_id: at < 25 || seed % 5 === 0 ? '' : 'obs-0000',
    start_time,
    end_time: start_time + BigInt(seed % 17) * 250_000_000n,
    ...wordsOf(seed),
    status: statuses[seed % 4] ?? 'ok',
    type: seed % 6 === 0 ? 'tool' : 'generation',
    cost_usd: costs[seed % 5] ?? null,
    ...tokensOf(seed),
    input: `input of obs-${id}`,
    output: seed % 4 === 0 ? '' : `output of obs-${id}`,
    attributes: labelsOf('n', seed % 3 === 0 ? String(seed % 10) : 'x', seed % 4),
    metadata: labelsOf('tenant', seed % 2 === 0 ? 'acme' : 'Zeta', seed % 5),
  })
}

function wordsOf(seed: number) {
  return {
    name: names[seed % 5] ?? '',
    model: models[seed % 3] ?? '',
    user_id: users[seed % 7] ?? '',
    environment: environments[seed % 5] ?? '',
    task_id: seed % 8 === 7 ? '' : `task-${seed % 4}`,
  }
}

function tokensOf(seed: number) {
  return {
    input_uncached_tokens: seed % 7 === 0 ? null : seed,
    cache_read_tokens: null,
    cache_write_tokens: null,
    output_visible_tokens: seed % 7 === 0 ? null : 5,
    reasoning_tokens: null,
  }
}

/** A key that is present, empty, or missing. */
function labelsOf(key: string, value: string, seed: number): Record<string, string> {
  if (seed === 1) return {}
  return { [key]: seed === 2 ? '' : value }
}

/** The observation as answers show it. */
export function plainObservation(observation: Observation): PlainRecord {
  const { start_time, end_time, cost_usd, status, type } = observation
  const { input_uncached_tokens: input, output_visible_tokens: output } = observation
  const tokens = { input_tokens: input, output_tokens: output }
  return {
    ...observation,
    ...tokens,
    total_tokens: input === null && output === null ? null : (input ?? 0) + (output ?? 0),
    start_time: isoFromNs(start_time),
    end_time: isoFromNs(end_time),
    duration_ms: Number(end_time - start_time) / 1_000_000,
    has_error: status === 'error',
    is_call: type === 'generation' || type === 'embedding',
    cost_usd: cost_usd === null ? null : dollarsFrom(nanoDollarsFrom(cost_usd)),
  }
}

/** Filters over observations, in JSON. */
export const anyFilter = filtersOver('observations', {
  name: names,
  model: models,
  user_id: ['ana', 'b', 'Ben', 'zoë', 'zz'],
  environment: ['prod', 'Q', 'staging'],
  parent_observation_id: ['obs-0000', 'p'],
  output: ['output of obs-0007', 'p', 'of'],
  cost_usd: ['0.5', '0.1', '12.25'],
  total_tokens: [0, 15, 60, 150],
  duration_ms: [0, 250, 1000, 2500],
  has_error: [true, false],
  task_id: ['task-0', 'task-1', 'task-2', 'task-3'],
  trace_id: traceIds,
  start_time: ['2026-09-21T14:30:00Z'],
  observation_id: ['obs-0007', 'obs-0100'],
  'attributes.n': [0, 3, 9, '5', 'x', 'w'],
  'metadata.tenant': ['acme', 'b', 'Zeta'],
})

const sortable = ['start_time', 'name', 'cost_usd', 'total_tokens', 'duration_ms', 'status']
const sometimesUnknown = ['user_id', 'environment', 'model', 'task_id', 'parent_observation_id']

/** Orders of pages, in JSON. */
export const anyOrder = ordersOver([
  ...sortable,
  ...sometimesUnknown,
  'observation_id',
  'attributes.n',
  'metadata.tenant',
])

/** Aggregates without buckets, in JSON. */
export const anyGroups = groupsOver(anyFilter, {
  groups: [
    'user_id',
    'model',
    'trace_id',
    'has_error',
    'status',
    'attributes.n',
    'metadata.tenant',
  ],
  counted: [...sometimesUnknown, 'trace_id', 'attributes.n', 'metadata.tenant', 'output'],
  measured: ['duration_ms', 'cost_usd', 'total_tokens', 'start_time'],
})

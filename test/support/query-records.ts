import fc from 'fast-check'
import type { Observation } from '../../src/model/observation.ts'
import { observationOf } from './observations.ts'

/** 2026-09-21T14:00:00Z, give or take: when the records of query tests begin. */
export const queryStart = 1_790_000_400_000_000_000n

const second = 1_000_000_000n
const names = ['chat', 'plan', 'search', "it's", 'ü\\n']
const models = ['m-1', 'm-2', '']
const statuses = ['ok', 'error', 'cancelled'] as const
const costs = [null, '0.5', '0.000000001', '12.25', '0.1']

/** Their order as text is not the one by their last eight bytes, which ClickHouse has. */
const traceIds = Array.from({ length: 25 }, (_, at) => {
  const [first, last] = [255 - ((at * 7) % 25), at]
  return `${first.toString(16)}98c0de-0000-7000-8000-00000000${String(last).padStart(4, '0')}`
})

/** Observations as they were sent first, and then some of them again with other values. */
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

/** Each observation once, as it was sent last. */
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
    start_time,
    end_time: start_time + BigInt(seed % 17) * 250_000_000n,
    name: names[seed % 5] ?? '',
    model: models[seed % 3] ?? '',
    task_id: `task-${seed % 4}`,
    status: statuses[seed % 4] ?? 'ok',
    type: seed % 6 === 0 ? 'tool' : 'generation',
    cost_usd: costs[seed % 5] ?? null,
    input_uncached_tokens: seed % 7 === 0 ? null : seed,
    cache_read_tokens: null,
    cache_write_tokens: null,
    output_visible_tokens: seed % 7 === 0 ? null : 5,
    reasoning_tokens: null,
    input: `input of obs-${id}`,
    attributes: seed % 3 === 0 ? { n: String(seed % 10) } : seed % 3 === 1 ? { n: 'x' } : {},
  })
}

const leaf = fc.oneof(
  test('name', ['eq', 'ne', 'gt', 'lte', 'contains', 'starts_with'], fc.constantFrom(...names)),
  test('name', ['in', 'not_in'], fc.subarray(names, { minLength: 1 })),
  test('model', ['exists'], fc.boolean()),
  test('cost_usd', ['exists'], fc.boolean()),
  test('cost_usd', ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'], fc.constantFrom('0.5', '0.1', '12.25')),
  test('total_tokens', ['eq', 'ne', 'gt', 'lt'], fc.integer({ min: 0, max: 150 })),
  test('duration_ms', ['eq', 'gte', 'lt'], fc.constantFrom(0, 250, 1000, 2500)),
  test('has_error', ['eq', 'ne'], fc.boolean()),
  test('task_id', ['eq', 'ne'], fc.constantFrom('task-1', 'task-2')),
  test('task_id', ['in'], fc.constantFrom(['task-0', 'task-3'])),
  test('trace_id', ['eq', 'ne'], fc.constantFrom(...traceIds)),
  test('start_time', ['lt', 'gte'], fc.constantFrom('2026-09-21T14:30:00Z')),
  test('attributes.n', ['gt', 'eq', 'lte'], fc.integer({ min: 0, max: 9 })),
  test('attributes.n', ['eq', 'exists'], fc.constant(true)),
)

type Leaf = { field: string; op: string; value: unknown }

function test(field: string, ops: string[], value: fc.Arbitrary<unknown>): fc.Arbitrary<Leaf> {
  return fc
    .record({ field: fc.constant(field), op: fc.constantFrom(...ops), value })
    .map((given) =>
      given.value === true && given.op === 'eq' && field !== 'has_error'
        ? { ...given, value: 'x' }
        : given,
    )
}

/** Filters over fields of observations, in JSON. */
export const anyFilter: fc.Arbitrary<object> = fc.letrec<{ node: object }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
    tie('node').map((not) => ({ not })),
  ),
})).node

const sortable = ['start_time', 'name', 'cost_usd', 'total_tokens', 'duration_ms', 'status']

/** Orders of pages, in JSON. */
export const anyOrder = fc.uniqueArray(
  fc.record({
    field: fc.constantFrom(...sortable, 'attributes.n'),
    direction: fc.constantFrom('asc' as const, 'desc' as const),
  }),
  { maxLength: 3, selector: ({ field }) => field },
)

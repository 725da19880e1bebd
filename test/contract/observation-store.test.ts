import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ObservationStore, StoreCapabilities } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { Problem } from '../../src/kernel/problem.ts'
import {
  levels,
  type Observation,
  observationTypes,
  outcomes,
  spanKinds,
  statuses,
} from '../../src/model/observation.ts'
import { type SuiteStore, suiteStores } from '../support/observation-stores.ts'
import { observationOf } from '../support/observations.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

const start = 1_790_000_000_000_000_000n
const second = 1_000_000_000n

describe.each(suiteStores)('$name', ({ open, capabilities }) => {
  let suite: SuiteStore
  let store: SuiteStore['store']

  beforeAll(async () => {
    suite = await open()
    store = suite.store
  })
  afterAll(() => suite?.close())

  test('has its declared capabilities, and no others', () => {
    for (const name of rollupMethods)
      expect([name, name in store]).toEqual([name, capabilities.rollups])
    expect(suite.rollups !== undefined).toBe(capabilities.rollups)
    expect(suite.capabilities).toMatchObject(capabilities)
  })

  describe('writing', () => {
    test('every field of every observation is returned as it was written', async () => {
      const project_id = newId()
      const some = fc.uniqueArray(anyObservation(project_id), {
        minLength: 1,
        selector: ({ observation_id }) => observation_id,
      })
      await fc.assert(
        fc.asyncProperty(some, async (given) => {
          const trace_id = newId()
          const observations = given.map((observation) => ({ ...observation, trace_id }))
          await store.insert(observations, { token: newId() })
          const stored = await store.traceObservations(project_id, { trace_id, limit: 100 })
          const byId = ({ observation_id }: Observation) =>
            Buffer.from(observation_id).toString('hex')
          const held = observations.map((each) => asHeld(each, capabilities))
          expect(sorted(stored, byId)).toEqual(sorted(held, byId))
          const [first] = observations
          if (first) {
            const wanted = asHeld(first, capabilities)
            expect(await store.observation(project_id, window(first))).toEqual(wanted)
          }
        }),
        { numRuns: fuzzRuns(15) },
      )
    })

    test('a rewritten observation is read once, in its later version', async () => {
      const project_id = newId()
      const first = observationOf({ project_id, output: 'first' })
      const token = newId()
      await store.insert([first], { token })
      await store.insert([first], { token })
      await store.insert([{ ...first, output: 'second', message_id: 'm2' }], { token: newId() })
      expect((await suite.rowCount(project_id)) > 1).toBe(suite.capabilities.versions_side_by_side)
      const lookup = { trace_id: first.trace_id, limit: 10 }
      expect(await store.traceObservations(project_id, lookup)).toMatchObject([
        { output: 'second' },
      ])
      expect(await store.observation(project_id, first)).toMatchObject({ output: 'second' })
      expect(await store.taskObservations(project_id, 'task-1', { limit: 10 })).toHaveLength(1)
    })

    test('a batch may span more months than ClickHouse accepts at once by default', async () => {
      const project_id = newId()
      const month = 31n * 86_400n * second
      const observations = Array.from({ length: 130 }, (_, index) =>
        observationOf({ project_id, trace_id: newId(), start_time: BigInt(index) * month }),
      )
      await store.insert(observations, { token: newId() })
      expect(await suite.rowCount(project_id)).toBe(130)
    })

    test('observations get other owners, each in all of its versions', async () => {
      const project_id = newId()
      const trace_id = newId()
      const rows = Array.from({ length: 40 }, (_, at) =>
        observationOf({
          ...{ project_id, trace_id, observation_id: `o'\\${at}`, start_time: start + BigInt(at) },
          ...{ task_id: trace_id, task_implicit: true, input: `input ${at}` },
        }),
      )
      const sibling = {
        ...rows[0],
        observation_id: "o'\\1",
        start_time: start + 100n,
      } as Observation
      const foreign = rows.map((row) => ({ ...row, project_id: newId() }))
      await store.insert([...rows, sibling, ...foreign], { token: newId() })
      await store.insert(rows.slice(0, 5), { token: newId() })
      const owner = {
        ...{ task_name: "it's", task_implicit: false, conversation_id: newId() },
        ...{ conversation_external_id: 'S-\n\\1', user_id: 'bob', release: 'é' },
      }
      const changed = rows
        .slice(0, 30)
        .map((row, at) => ({ ...row, ...owner, task_id: `T ${at % 3}` }))
      await store.setOwners(project_id, changed)
      await store.setOwners(project_id, [])
      const stored = await store.traceObservations(project_id, { trace_id, limit: 100 })
      expect(stored).toEqual([...changed, ...rows.slice(30), sibling])
      const page = { limit: 100 }
      expect(await store.taskObservations(project_id, 'T 1', page)).toHaveLength(10)
      expect(await store.taskObservations(project_id, trace_id, page)).toHaveLength(11)
      const [other] = foreign
      const untouched = await store.traceObservations(other?.project_id ?? '', {
        trace_id,
        limit: 9,
      })
      expect(untouched).toEqual([other])
    })

    test('exactly the named observations are erased, in all of their versions', async () => {
      const project_id = newId()
      const trace_id = newId()
      const rows = Array.from({ length: 4 }, (_, at) =>
        observationOf({
          ...{ project_id, trace_id, observation_id: `o${at}`, start_time: start + BigInt(at) },
        }),
      )
      const foreign = rows.map((row) => ({ ...row, project_id: newId() }))
      await store.insert([...rows, ...foreign], { token: newId() })
      await store.insert(rows.slice(0, 2), { token: newId() })
      await store.eraseRows(project_id, { rows: rows.slice(0, 3), users: ['eve'] })
      expect(await store.traceObservations(project_id, { trace_id, limit: 9 })).toEqual([rows[3]])
      const other = foreign[0]?.project_id ?? ''
      expect(await store.traceObservations(other, { trace_id, limit: 9 })).toEqual([foreign[0]])
    })

    test('an empty write is no error', async () => {
      await expect(store.insert([], { token: newId() })).resolves.toBeUndefined()
    })
  })

  describe('lists', () => {
    test('a task pages through its observations, without content', async () => {
      const project_id = newId()
      const observations = Array.from({ length: 7 }, (_, index) =>
        observationOf({
          project_id,
          trace_id: newId(),
          observation_id: `o${index}`,
          // Two share each instant, so that the id has to order them.
          start_time: start + BigInt(Math.floor(index / 2)) * second,
          input: 'long',
          tool_calls: [{ id: 'call', name: 'search', arguments: '{}' }],
        }),
      )
      await store.insert(observations.toReversed(), { token: newId() })
      await store.insert(observations, { token: newId() })
      const seen: string[] = []
      let after: { start_time: bigint; observation_id: string } | undefined
      for (let pages = 0; pages < 5; pages++) {
        const page = await store.taskObservations(project_id, 'task-1', {
          ...(after && { after }),
          limit: 3,
        })
        for (const row of page) {
          expect(row).not.toHaveProperty('input')
          expect(row.tool_calls).toEqual(observations[0]?.tool_calls)
          seen.push(row.observation_id)
        }
        after = page.at(-1)
        if (page.length < 3) break
      }
      expect(seen).toEqual(['o0', 'o1', 'o2', 'o3', 'o4', 'o5', 'o6'])
      const within = { from: start + second, to: start + 2n * second, limit: 10 }
      const inside = await store.taskObservations(project_id, 'task-1', within)
      expect(inside.map((row) => row.observation_id)).toEqual(['o2', 'o3'])
      const last = { to: start + 3n * second, order: 'desc' as const, limit: 3 }
      const backward = await store.taskObservations(project_id, 'task-1', last)
      expect(backward.map((row) => row.observation_id)).toEqual(['o5', 'o4', 'o3'])
    })

    test('a task has the observations that end from an instant on, by their latest version', async () => {
      const project_id = newId()
      const rows = [1n, 5n, 9n].map((length, index) =>
        observationOf({
          ...{ project_id, observation_id: `o${index}`, start_time: start },
          end_time: start + length * second,
        }),
      )
      await store.insert(rows, { token: newId() })
      const [, again] = rows
      if (again === undefined) throw new Error('there are three')
      const shorter = { ...again, end_time: start + 2n * second, message_id: 'm2' }
      await store.insert([shorter], { token: newId() })
      const asked = { ends_from: start + 5n * second, limit: 10 }
      const found = await store.taskObservations(project_id, 'task-1', asked)
      expect(found.map((row) => row.observation_id)).toEqual(['o2'])
    })
  })

  describe('limits and isolation', () => {
    test('no statement returns rows of another project', async () => {
      const project_id = newId()
      const stranger = newId()
      const observation = observationOf({ project_id, conversation_id: 'c-1' })
      await store.insert([observation], { token: newId() })
      expect(await store.observation(stranger, observation)).toBeUndefined()
      const lookup = { trace_id: observation.trace_id, limit: 10 }
      expect(await store.traceObservations(stranger, lookup)).toEqual([])
      expect(await store.taskObservations(stranger, 'task-1', { limit: 10 })).toEqual([])
    })

    test('an unavailable store is a retryable problem', async () => {
      const observation = observationOf({ project_id: newId() })
      const failures = await Promise.all([
        suite.unreachable.insert([observation], { token: 't' }).catch((error: unknown) => error),
        suite.unreachable.observation(newId(), observation).catch((error: unknown) => error),
      ])
      for (const failure of failures) {
        expect(failure).toBeInstanceOf(Problem)
        expect(failure).toMatchObject({ code: 'store_unavailable' })
      }
    })
  })
})

const withRollups = suiteStores.filter(({ capabilities }) => capabilities.rollups)

test('one store has roll-ups', () => {
  expect(withRollups.map(({ name }) => name)).toEqual(['clickhouse'])
})

describe.each(withRollups)('$name', ({ open }) => {
  let suite: SuiteStore
  let store: ObservationStore

  beforeAll(async () => {
    suite = await open()
    if (suite.rollups === undefined) throw new Error('it says that it has roll-ups')
    store = suite.rollups
  })
  afterAll(() => suite?.close())

  describe('parts of tasks', () => {
    const named = (id: string) => ({ id, name: 'find', arguments: '{}' })
    const project_id = newId()
    const rows = [
      { tool_calls: [named('a'), named('b')], cost_usd: '0.5' },
      { type: 'tool' as const, tool_calls: [named('a')], cost_usd: null },
      { tool_results: [{ tool_call_id: 'b', content: 'x' }], status: 'error' as const },
      { type: 'agent' as const },
      { type: 'span' as const },
      { type: 'span' as const, status: 'error' as const },
    ].map((more, index) => {
      const start_time = start + BigInt(index) * second
      const ids = { project_id, observation_id: `o${index}` }
      return observationOf({ ...ids, start_time, end_time: start_time + second, ...more })
    })
    beforeAll(async () => {
      await store.insert(rows, { token: newId() })
      await store.insert(rows.slice(0, 3), { token: newId() })
    })

    test('name tool calls, first or last ones first', async () => {
      const found = async (tool_call_ids: string[], more = {}) => {
        const asked = { tool_call_ids, limit: 10, ...more }
        const some = await store.taskToolRows(project_id, 'task-1', asked)
        return some.map((row) => row.observation_id)
      }
      expect(await found(['a'])).toEqual(['o0', 'o1'])
      expect(await found(['b'], { order: 'desc' })).toEqual(['o2', 'o0'])
      expect(await found(['b'], { to: start + second, limit: 1 })).toEqual(['o0'])
      expect(await found(['none'])).toEqual([])
      expect(await found([])).toEqual([])
    })

    test('have sums of each observation that is shown, once', async () => {
      const all = await store.taskSums(project_id, 'task-1', { from: start })
      expect(all).toMatchObject({
        ...{ calls: 2, errors: 1, nano_dollars: 501_000_000n, total_tokens: 30 },
        ...{ first_start: start, last_start: start + 5n * second, last_end: start + 3n * second },
      })
      const to = start + 2n * second
      expect(await store.taskSums(project_id, 'task-1', { to })).toMatchObject({
        ...{ calls: 1, errors: 0, nano_dollars: 500_000_000n, total_tokens: 15 },
        ...{ last_start: start + second, last_end: to },
      })
      expect(await store.taskSums(newId(), 'task-1', {})).toEqual({
        ...{ calls: 0, errors: 0, nano_dollars: 0n, total_tokens: 0 },
        ...{ first_start: undefined, last_start: undefined, last_end: undefined },
      })
    })
  })

  describe('roll-ups', () => {
    test('of tasks are exact, whatever was sent twice', async () => {
      const project_id = newId()
      const observations = taskOfThree(project_id)
      await store.insert(observations, { token: newId() })
      await store.insert(observations.slice(1), { token: newId() })
      const rollups = await store.taskRollups(project_id, [
        { task_id: 'task-1', from: start },
        { task_id: 'no such task', from: start },
      ])
      expect(rollups).toEqual([
        {
          task_id: 'task-1',
          name: 'the later name',
          user_id: 'u-1',
          conversation_id: 'c-1',
          environment: 'prod',
          release: '',
          cluster_name: 'eu-1',
          implicit: false,
          observations: 4,
          traces: 2,
          calls: 3,
          errors: 1,
          cancelled: 1,
          input_uncached_tokens: 20,
          cache_read_tokens: 7,
          cache_write_tokens: 0,
          output_visible_tokens: 10,
          reasoning_tokens: 2 ** 40,
          total_tokens: 37 + 2 ** 40,
          estimated_calls: 1,
          cost_usd: '0.300000001',
          unpriced_calls: 1,
          partially_priced_calls: 1,
          merged_calls: 0,
          models: ['m-1', 'm-2'],
          providers: ['anthropic', 'openai'],
          first_start: start,
          last_end: start + 9n * second,
          last_start: start + 3n * second,
          fingerprints: expect.toSatisfy((of: number[]) => new Set(of).size === 4),
        },
      ])
    })

    test('of conversations too', async () => {
      const project_id = newId()
      const observations = taskOfThree(project_id)
      await store.insert(observations, { token: newId() })
      await store.insert(observations, { token: newId() })
      const hints = [{ conversation_id: 'c-1', from: start }]
      expect(await store.conversationRollups(project_id, hints)).toMatchObject([
        {
          conversation_id: 'c-1',
          external_id: 'chat 7',
          user_id: 'u-1',
          tasks: 1,
          traces: 2,
          observations: 4,
          calls: 3,
          cost_usd: '0.300000001',
          first_start: start,
          last_end: start + 9n * second,
        },
      ])
    })

    test('accept any number of tasks, with any characters in their ids', async () => {
      const project_id = newId()
      const strange = Array.from(
        { length: 600 },
        (_, index) => `t'${index}\\\n\t{x:String} é🦊?&+%`,
      )
      const observations = strange.map((task_id) =>
        observationOf({ project_id, task_id, trace_id: newId() }),
      )
      await store.insert(observations, { token: newId() })
      const hints = strange.map((task_id) => ({ task_id, from: start }))
      const rollups = await store.taskRollups(project_id, hints)
      expect(rollups.map((rollup) => rollup.task_id).sort()).toEqual([...strange].sort())
    })

    test('add up as the observations do', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyCall, { minLength: 1, maxLength: 40 }), async (calls) => {
          const project_id = newId()
          const observations = calls.map((call) =>
            observationOf({ ...call, project_id, trace_id: newId(), cost_usd: dollars(call.cost) }),
          )
          await store.insert(observations, { token: newId() })
          const [rollup] = await store.taskRollups(project_id, [{ task_id: 'task-1', from: start }])
          const cost = calls.reduce((sum, call) => sum + (call.cost ?? 0n), 0n)
          expect(rollup?.cost_usd).toBe(dollars(cost))
          expect(rollup?.unpriced_calls).toBe(calls.filter((call) => call.cost === null).length)
          const tokens = calls.reduce((sum, call) => sum + (call.input_uncached_tokens ?? 0), 0)
          expect(rollup?.input_uncached_tokens).toBe(tokens)
        }),
        { numRuns: fuzzRuns(10) },
      )
    })

    test('have sums of tokens that end at 2^53 - 1', async () => {
      const project_id = newId()
      const trace_id = newId()
      const observations = Array.from({ length: 2_049 }, (_, at) =>
        observationOf({
          ...{ project_id, trace_id, observation_id: `call-${at}`, start_time: start },
          input_uncached_tokens: Number.MAX_SAFE_INTEGER,
          reasoning_tokens: at === 0 ? Number.MAX_SAFE_INTEGER - 1 : 0,
        }),
      )
      await store.insert(observations, { token: newId() })
      const [rollup] = await store.taskRollups(project_id, [{ task_id: 'task-1', from: start }])
      expect(rollup).toMatchObject({
        input_uncached_tokens: Number.MAX_SAFE_INTEGER,
        reasoning_tokens: Number.MAX_SAFE_INTEGER - 1,
        total_tokens: Number.MAX_SAFE_INTEGER,
      })
    })

    test('count a rewritten observation once', async () => {
      const project_id = newId()
      const first = observationOf({ project_id })
      await store.insert([first], { token: newId() })
      await store.insert([{ ...first, message_id: 'm2' }], { token: newId() })
      const [rollup] = await store.taskRollups(project_id, [{ task_id: 'task-1', from: start }])
      expect(rollup).toMatchObject({ calls: 1, total_tokens: 15, cost_usd: '0.001' })
    })

    test('the heads of traces are those of their latest versions', async () => {
      const project_id = newId()
      const [a, b, c] = [newId(), newId(), newId()].toSorted()
      const of = (trace_id: string | undefined, at: number) =>
        observationOf({ project_id, trace_id: trace_id ?? '', start_time: start + BigInt(at) })
      const rows = [of(a, 0), of(a, 5), of(b, 1), of(b, 20), of(c, 2)]
      await store.insert(rows, { token: newId() })
      const [first] = rows
      if (first === undefined) throw new Error('no row')
      await store.insert([{ ...first, user_id: 'later' }], { token: newId() })
      const asked = { trace_ids: [a ?? '', b ?? ''], from: start, to: start + 10n }
      const heads = await store.traceHeads(project_id, { ...asked, limit: 10 })
      const latest = [{ ...first, user_id: 'later' }, rows[1], rows[2]]
      expect(latest.map((row) => ({ ...row, cluster_name: '' }))).toMatchObject(heads)
      expect(heads).toHaveLength(3)
      expect(await store.traceHeads(project_id, { ...asked, limit: 1 })).toHaveLength(1)
      expect(await store.traceHeads(newId(), { ...asked, limit: 10 })).toEqual([])
    })

    test('return nothing of another project', async () => {
      const project_id = newId()
      const stranger = newId()
      const conversation = { order: 'asc', limit: 10 } as const
      await store.insert([observationOf({ project_id, conversation_id: 'c-1' })], {
        token: newId(),
      })
      expect(await store.taskRollups(stranger, [{ task_id: 'task-1', from: start }])).toEqual([])
      const hints = [{ conversation_id: 'c-1', from: start }]
      expect(await store.conversationRollups(stranger, hints)).toEqual([])
      expect(await store.conversationTraces(stranger, 'c-1', conversation)).toEqual([])
      expect(await store.countConversationTraces(stranger, 'c-1', { limit: 10 })).toBe(0)
      expect(await store.conversationTraces(project_id, 'c-1', conversation)).toHaveLength(1)
    })
  })

  describe('conversations', () => {
    test.each(['asc', 'desc'] as const)('traces of a conversation, %s', async (order) => {
      const project_id = newId()
      const traces = await conversationOfFive(store, project_id)
      const expected = order === 'asc' ? traces : traces.toReversed()
      const seen: string[] = []
      let after: { start_time: bigint; trace_id: string } | undefined
      for (let pages = 0; pages < 4; pages++) {
        const page = await store.conversationTraces(project_id, 'c-1', {
          ...(after && { after }),
          order,
          limit: 2,
        })
        seen.push(...page.map((trace) => trace.trace_id))
        after = page.at(-1)
        if (page.length < 2) break
      }
      expect(seen).toEqual(expected)
    })

    test('a trace has its totals, and the window uses its start', async () => {
      const project_id = newId()
      const traces = await conversationOfFive(store, project_id)
      const within = { from: start + 1n, to: start + 101n * second }
      const [trace, ...others] = await store.conversationTraces(project_id, 'c-1', {
        ...within,
        order: 'asc',
        limit: 10,
      })
      expect(others).toEqual([])
      expect(trace).toMatchObject({
        trace_id: traces[1],
        name: 'the root',
        status: 'error',
        task_id: 'task-1',
        start_time: start + 100n * second,
        end_time: start + 106n * second,
        observations: 2,
        calls: 2,
        errors: 1,
        total_tokens: 30,
        cost_usd: '0.002',
      })
      const count = (limit: number, about = {}) =>
        store.countConversationTraces(project_id, 'c-1', { ...about, limit })
      expect(await count(100)).toBe(5)
      expect(await count(3)).toBe(3)
      expect(await count(100, within)).toBe(1)
    })
  })
})

const rollupMethods = [
  'taskRollups',
  'conversationRollups',
  'conversationTraces',
  'countConversationTraces',
  'taskVersions',
  'observationsAt',
  'traceHeads',
]

/** As a store with a declared limitation returns it. */
function asHeld(
  given: Observation,
  { nul_in_text }: Pick<StoreCapabilities, 'nul_in_text'>,
): Observation {
  return nul_in_text ? given : (withoutNul(given) as Observation)
}

function withoutNul(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\u0000', '\ufffd')
  if (Array.isArray(value)) return value.map(withoutNul)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [withoutNul(key), withoutNul(each)]),
  )
}

/** Exactly the instant at which it began. */
function window({ trace_id, observation_id, start_time }: Observation) {
  return { trace_id, observation_id, from: start_time, to: start_time + 1n }
}

function sorted<Item>(items: readonly Item[], key: (item: Item) => string): Item[] {
  return items.toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
}

/** Three calls and a tool, over two traces, with every distinction that a roll-up makes. */
function taskOfThree(project_id: string): Observation[] {
  const all = { project_id, conversation_id: 'c-1' }
  const other = newId()
  return [
    observationOf({
      ...all,
      observation_id: 'a',
      task_name: 'the first name',
      task_implicit: true,
      conversation_external_id: 'chat 7',
      model: '',
      model_requested: 'm-1',
      cost_usd: '0.1',
    }),
    observationOf({
      ...all,
      observation_id: 'b',
      start_time: start + second,
      task_name: 'the later name',
      attributes: { 'resource.k8s.cluster.name': 'eu-1' },
      user_id: 'u-1',
      environment: 'prod',
      provider: 'anthropic',
      model: 'm-2',
      status: 'error',
      input_uncached_tokens: null,
      cache_read_tokens: 7,
      cost_usd: '0.200000001',
      price_partial: ['audio'],
      usage_source: 'estimated',
    }),
    observationOf({
      ...all,
      observation_id: 'c',
      trace_id: other,
      start_time: start + 2n * second,
      end_time: start + 9n * second,
      model: 'm-2',
      status: 'cancelled',
      output_visible_tokens: null,
      reasoning_tokens: 2 ** 40,
      cost_usd: null,
      price_partial: ['audio'],
    }),
    observationOf({
      ...all,
      observation_id: 'd',
      trace_id: other,
      start_time: start + 3n * second,
      type: 'tool',
      status: 'error',
      model: 'm-3',
      cost_usd: '9',
    }),
  ]
}

/** Five traces 100 s apart, two observations each; returns their ids in order of time. */
async function conversationOfFive(
  store: Pick<ObservationStore, 'insert'>,
  project_id: string,
): Promise<string[]> {
  const traces = Array.from({ length: 5 }, newId)
  const observations = traces.flatMap((trace_id, index) => {
    const all = { project_id, trace_id, conversation_id: 'c-1' }
    const at = start + BigInt(index) * 100n * second
    return [
      observationOf({ ...all, observation_id: 'r', start_time: at + second, name: 'the root' }),
      observationOf({
        ...all,
        observation_id: 's',
        parent_observation_id: 'r',
        start_time: at,
        end_time: at + 6n * second,
        status: 'error',
      }),
    ]
  })
  await store.insert(observations, { token: newId() })
  await store.insert(observations.slice(3), { token: newId() })
  return traces
}

function dollars(billionths: bigint | null): string | null {
  if (billionths === null) return null
  const digits = billionths.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}

const anyCall = fc.record({
  cost: fc.option(fc.bigInt({ min: 0n, max: 10n ** 15n })),
  input_uncached_tokens: fc.option(fc.nat({ max: 2 ** 31 - 1 })),
})

/** Any characters except lone surrogates, which cannot be stored unchanged. */
const anyText = fc.string({ unit: 'binary', maxLength: 300 })
const anyCount = fc.option(fc.maxSafeNat())
const anyPairs = fc.dictionary(
  anyText.filter((key) => key !== '__proto__'),
  anyText,
)

function anyObservation(project_id: string): fc.Arbitrary<Observation> {
  return fc.record({
    project_id: fc.constant(project_id),
    trace_id: fc.constant(''),
    observation_id: fc.string({ minLength: 1, maxLength: 64 }),
    parent_observation_id: anyText,
    type: fc.constantFrom(...observationTypes),
    name: anyText,
    start_time: fc.bigInt({ min: -(10n ** 18n), max: 9n * 10n ** 18n }),
    end_time: fc.bigInt({ min: -(10n ** 18n), max: 9n * 10n ** 18n }),
    status: fc.constantFrom(...statuses),
    status_code: fc.nat({ max: 999 }),
    outcome: fc.constantFrom(...outcomes, '' as const),
    error_type: anyText,
    error_message: anyText,
    source: fc.constantFrom('proxy', 'otlp', 'api'),
    contract_version: anyText,
    provider: anyText,
    model_requested: anyText,
    model: anyText,
    endpoint: anyText,
    task_id: anyText,
    task_name: anyText,
    task_implicit: fc.boolean(),
    conversation_id: anyText,
    conversation_external_id: anyText,
    user_id: anyText,
    environment: anyText,
    release: anyText,
    service_name: anyText,
    agent_name: anyText,
    span_kind: fc.constantFrom(...spanKinds),
    level: fc.constantFrom(...levels),
    input: anyText,
    output: anyText,
    content_state: fc.constantFrom('full', 'truncated', 'dropped'),
    tool_calls: fc.array(fc.record({ id: anyText, name: anyText, arguments: anyText })),
    tool_results: fc.array(fc.record({ tool_call_id: anyText, content: anyText })),
    streamed: fc.boolean(),
    finish_reason: anyText,
    input_uncached_tokens: anyCount,
    cache_read_tokens: anyCount,
    cache_write_tokens: anyCount,
    output_visible_tokens: anyCount,
    reasoning_tokens: anyCount,
    usage_source: fc.constantFrom('provider', 'estimated', 'none'),
    usage_semantics: fc.constantFrom('inclusive', 'exclusive', ''),
    cost_usd: fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }).map(dollars),
    price_partial: fc.array(anyText, { maxLength: 3 }),
    usage_details: fc.dictionary(
      anyText.filter((key) => key !== '__proto__'),
      fc.maxSafeNat(),
    ),
    service_tier: anyText,
    response_id: anyText,
    counted_with: fc.constantFrom('', '', 'another'),
    cost_computed_usd: fc.option(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n })).map(dollars),
    cost_reported_usd: fc.option(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n })).map(dollars),
    price_version: anyText,
    time_to_first_token_ms: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
    request_bytes: fc.maxSafeNat(),
    response_bytes: fc.maxSafeNat(),
    attributes: anyPairs,
    metadata: anyPairs,
    mapped_from: anyText,
    message_id: anyText,
  })
}

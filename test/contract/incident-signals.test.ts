import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sample } from '../../src/capabilities/incidents/evaluation/contract.ts'
import type { Measured, Signals } from '../../src/capabilities/incidents/ports.ts'
import { groupKey } from '../../src/capabilities/incidents/rules/groups.ts'
import { type Rule, ruleShape } from '../../src/capabilities/incidents/rules/rule.ts'
import { refreshMinutes } from '../../src/capabilities/incidents/signals/minutes.ts'
import { openSignals } from '../../src/capabilities/incidents/signals/open-signals.ts'
import { slotReading } from '../../src/capabilities/incidents/signals/slot-reading.ts'
import { durationMs } from '../../src/kernel/duration.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { parseProjectId } from '../../src/model/project-id.ts'
import {
  type ColumnarServer,
  ColumnarUnavailable,
  openColumnar,
} from '../../src/platform/columnar/index.ts'
import { columnarOptions, testClickHouse } from '../support/clickhouse.ts'
import { insertStored } from '../support/incidents/insert-stored.ts'
import { naiveSamples } from '../support/incidents/naive-signals.ts'
import {
  end_ms,
  measuredRules,
  naiveRowsOf,
  observationsOf,
  type SignalData,
  type StoredObservation,
  signalData,
} from '../support/incidents/signal-data.ts'
import { openSignalStores, type SignalStores } from '../support/incidents/signal-stores.ts'
import { observationOf } from '../support/observations.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

let stores: SignalStores

beforeAll(async () => {
  stores = await openSignalStores()
})
afterAll(() => stores?.close())

/** Measures rules at some slots, and compares each sample with the naive one. */
async function compare(
  project_id: string,
  data: SignalData,
  { rules, signals = stores.signals }: { rules: readonly Rule[]; signals?: Signals },
) {
  const slots = rules.flatMap((rule, at) =>
    [0, 60_000, 5 * 60_000].map((before_ms) => ({
      ...{ rule_id: `r${at}`, rule, end_ms: end_ms - before_ms },
    })),
  )
  const measured = await signals.measure({ project_id, slots, lag_ms: 7 })
  expect(measured).toHaveLength(slots.length)
  const rows = naiveRowsOf(data)
  for (const one of measured) {
    const expected = naiveSamples(rows, { rule: one.rule, end_ms: one.end_ms, lag_ms: 7 })
    expectSamples(one.rule, samplesOf(one), expected)
    expect(one).toMatchObject({ others: 0 })
  }
}

type Rows = readonly object[]
type ReadArguments = Parameters<ColumnarServer['read']>

type Samples = ReadonlyMap<string, Sample>

function expectSamples(rule: Rule, got: Samples, expected: Samples): void {
  const about = JSON.stringify(rule)
  expect([...got.keys()].toSorted(), about).toEqual([...expected.keys()].toSorted())
  for (const [key, sample] of expected) {
    expect(sorted(got.get(key)), `${about} ${key}`).toEqual(expectation(rule, sample))
  }
}

function samplesOf(measured: Measured | undefined) {
  if (measured === undefined || 'error' in measured) {
    throw new Error(`${measured?.error} ${JSON.stringify(measured?.rule)}`)
  }
  return new Map(measured.groups.map(({ group, sample }) => [groupKey(group), sample]))
}

/**
 * The expectation of a sample. Sums of floating-point numbers differ by their order, and scores are
 * rounded to 4 digits. Percentiles of windows above an hour are at most 11 % off.
 */
function expectation({ condition }: Rule, sample: Sample | undefined): unknown {
  const isLatency = condition?.signal === 'latency_p95' || condition?.signal === 'ttft_p95'
  const isRough = isLatency && durationMs(condition.window) > 3_600_000
  if (!isRough || sample?.kind !== 'condition') return near(sorted(sample))
  const value = sample.value ?? 0
  return { ...sample, value: within(value, Math.max(10, value * 0.1096)) }
}

/** History has no order. */
function sorted(sample: Sample | undefined): Sample | undefined {
  return sample?.kind === 'baseline'
    ? { ...sample, history: sample.history.toSorted((one, other) => one - other) }
    : sample
}

const within = (value: number, error: number) =>
  expect.toSatisfy((got) => typeof got === 'number' && Math.abs(got - value) <= error)

function near(value: unknown): unknown {
  if (typeof value === 'number') return within(value, 0.002)
  if (Array.isArray(value)) return value.map(near)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, near(one)]))
}

const ruleOf = (body: object) => ruleShape.parse({ name: 'rule', severity: 'low', ...body })

const second_ns = 1_000_000_000n

/** Inserts calls that start, and end, in the last minute. Each is stored when it ends. */
async function insertCalls(project_id: string, calls: readonly Partial<StoredObservation>[]) {
  const rows = calls.map((call, at): StoredObservation => {
    const start_time = BigInt(end_ms - 30_000) * 1_000_000n
    const row = observationOf({ project_id, observation_id: `o${at}`, start_time, ...call })
    return { ...row, stored_ms: call.stored_ms ?? Number(row.end_time / 1_000_000n) }
  })
  await insertStored(stores.columnar, rows)
}

async function measureOne(project_id: string, rule: Rule, known: Record<string, string>[] = []) {
  const slots = [{ rule_id: 'r', rule, end_ms, known }]
  const [measured] = await stores.signals.measure({ project_id, slots, lag_ms: 0 })
  return measured
}

test('samples are those of a naive computation, also for hostile values and repeated rows', async () => {
  const rules = fc.array(measuredRules, { minLength: 60, maxLength: 60, size: 'max' })
  await fc.assert(
    fc.asyncProperty(signalData, signalData, rules, async (data, neighbour, asked) => {
      const project_id = newId()
      await stores.store(newId(), neighbour)
      await stores.store(project_id, data)
      await compare(project_id, data, { rules: asked })
    }),
    { numRuns: fuzzRuns(4), endOnFailure: true },
  )
}, 120_000)

/** Rules that read the sums of minutes. */
const longRules = measuredRules.filter(({ burn_rate, baseline, condition }) => {
  const isLong =
    condition !== undefined && 'window' in condition && /[36][hd]/.test(condition.window)
  return isLong || burn_rate?.signal === 'error_rate' || baseline !== undefined
})

test('the sums of minutes give the same samples, also after late rows and repeated rows', async () => {
  const rules = fc.array(longRules, { minLength: 30, maxLength: 30, size: 'max' })
  // Rows of the test were stored in the past, so every refresh looks for all of them.
  const overlap_ms = 40 * 86_400_000
  const settings = { overlap_ms, late_every_ms: 0, signal: new AbortController().signal }
  await fc.assert(
    fc.asyncProperty(signalData, signalData, rules, async (data, late, asked) => {
      const project_id = newId()
      const refresh = () => refreshMinutes(stores.columnar, project_id, settings)
      await stores.store(project_id, { ...data, calls: [] })
      const batches = observationsOf(project_id, data)
      const lateCalls = late.calls.map((one) => ({ ...one, is_sent_again: false }))
      const [rows = []] = observationsOf(project_id, { ...late, calls: lateCalls }).slice(-1)
      batches.push(rows.map((one) => ({ ...one, observation_id: `late-${one.observation_id}` })))
      for (const batch of batches) {
        await insertStored(stores.columnar, batch)
        await refresh()
      }
      const signals = openSignals(stores.options)
      const all = { ...data, calls: [...data.calls, ...lateCalls] }
      await compare(project_id, all, { rules: asked, signals })
    }),
    { numRuns: fuzzRuns(2), endOnFailure: true },
  )
}, 120_000)

test('p95 is the value at the nearest rank', async () => {
  const project_id = newId()
  const counts = [1, 2, 19, 20, 21, 39, 40, 100]
  const end_time = BigInt(end_ms - 30_000) * 1_000_000n
  const calls = counts.flatMap((count) =>
    Array.from({ length: count }, (_, at) => ({
      ...{ observation_id: `${count}-${at}`, task_name: `n${count}`, end_time },
      start_time: end_time - BigInt(at + 1) * second_ns,
    })),
  )
  await insertCalls(project_id, calls)
  const condition = { signal: 'latency_p95', window: '1m', threshold: 1 }
  const measured = await measureOne(project_id, ruleOf({ condition, group_by: ['task_name'] }))
  const ranks = [1, 2, 19, 19, 20, 38, 38, 95]
  for (const [at, count] of counts.entries()) {
    expect(samplesOf(measured).get(groupKey({ task_name: `n${count}` }))).toMatchObject({
      ...{ value: (ranks[at] ?? 0) * 1_000, samples: count },
    })
  }
})

describe('more groups than a rule has', () => {
  const condition = { signal: 'tokens', window: '5m', threshold: 1 }
  const rule = ruleOf({ condition, group_by: ['task_name', 'environment'] })
  const project_id = newId()
  const known = { task_name: 'zz "known"', environment: '\u{1f600}' }

  beforeAll(async () => {
    const many = Array.from({ length: 700 }, (_, at) => ({
      ...{ observation_id: `m${at}`, task_name: `a${at}`, environment: 'flood' },
    }))
    await insertCalls(project_id, [...many, { observation_id: 'k', ...known }])
  })

  test('501 groups are returned, and the others are counted', async () => {
    const measured = await measureOne(project_id, rule)
    expect(samplesOf(measured).size).toBe(501)
    expect(measured).toMatchObject({ others: 200 })
    expect(samplesOf(measured).has(groupKey(known))).toBe(false)
  })

  test('a flood of new groups does not hide a known one', async () => {
    const gone = { task_name: 'zz gone', environment: '' }
    const measured = await measureOne(project_id, rule, [known, gone])
    expect(samplesOf(measured).get(groupKey(known))).toMatchObject({ value: 15, samples: 1 })
    expect(samplesOf(measured).has(groupKey(gone))).toBe(false)
    expect(measured).toMatchObject({ others: 199 })
  })

  test('a rule that shares the statement has its own groups', async () => {
    const short = ruleOf({ ...rule, condition: { ...condition, window: '1m' } })
    await insertCalls(project_id, [
      {
        observation_id: 'x',
        task_name: 'zz last',
        start_time: BigInt(end_ms - 200_000) * 1_000_000n,
      },
    ])
    const slots = [rule, short].map((one) => ({ rule_id: 'r', rule: one, end_ms, known: [known] }))
    const measured = await stores.signals.measure({ project_id, slots, lag_ms: 0 })
    expect(measured.map((one) => 'others' in one && one.others)).toEqual([200, 199])
    for (const one of measured) expect(samplesOf(one).has(groupKey(known))).toBe(true)
  })
})

test('long values are cut, and U+0000 is replaced: PostgreSQL stores the groups', async () => {
  const project_id = newId()
  await insertCalls(project_id, [
    { observation_id: 'a', task_name: `${'é'.repeat(128)}tail` },
    { observation_id: 'b', task_name: `${'é'.repeat(128)}other` },
    { observation_id: 'c', task_name: 'a\u0000b' },
  ])
  const condition = { signal: 'cost', window: '1m', threshold: 1 }
  const samples = samplesOf(
    await measureOne(project_id, ruleOf({ condition, group_by: ['task_name'] })),
  )
  expect([...samples.keys()].toSorted()).toEqual(
    [groupKey({ task_name: 'a\ufffdb' }), groupKey({ task_name: 'é'.repeat(128) })].toSorted(),
  )
  expect(samples.get(groupKey({ task_name: 'é'.repeat(128) }))).toMatchObject({ samples: 2 })
})

describe('failures', () => {
  const calls = ruleOf({ condition: { signal: 'error_rate', window: '5m', threshold: 0.5 } })
  const tasks = ruleOf({ condition: { signal: 'loop_rate', window: '5m', threshold: 0.5 } })
  const slots = [calls, tasks].map((rule, at) => ({ rule_id: `r${at}`, rule, end_ms }))

  test('of one store leave the rules of the other one', async () => {
    const away = openColumnar({
      ...columnarOptions({ ...(await testClickHouse('empty')), url: 'http://127.0.0.1:1' }),
    })
    const signals = openSignals({ ...stores.options, columnar: away })
    const measured = await signals.measure({ project_id: newId(), slots, lag_ms: 0 })
    await away.close()
    expect(measured).toMatchObject([
      { rule: calls, error: 'The columnar store is unavailable. The rule keeps its state.' },
      { rule: tasks, groups: [] },
    ])
  })

  test('of a statement say nothing of its text', async () => {
    const broken = openColumnar(columnarOptions(await testClickHouse('empty')))
    const signals = openSignals({ ...stores.options, columnar: broken })
    const [measured] = await signals.measure({ project_id: newId(), slots, lag_ms: 0 })
    await broken.close()
    expect(measured).toMatchObject({
      error: 'The store refused the measurement. The rule keeps its state.',
    })
  })

  test('an aborted measurement rejects', async () => {
    const aborted = AbortSignal.abort(new Error('the lease ended'))
    const request = { project_id: newId(), slots, lag_ms: 0, signal: aborted }
    await expect(stores.signals.measure(request)).rejects.toThrow('the lease ended')
  })
})

describe('rules with different filters', () => {
  const rules = ['task-a', 'task-b', 'wide*'].flatMap((task_name) =>
    [
      { signal: 'cost', window: '5m', threshold: 1 },
      { signal: 'latency_p95', window: '1m', threshold: 1 },
    ].map((condition) => ruleOf({ condition, selector: { task_name: [task_name] } })),
  )
  const slots = rules.map((rule, at) => ({ rule_id: `r${at}`, rule, end_ms }))
  const project_id = newId()
  const request = { project_id, slots, lag_ms: 0 }

  beforeAll(() =>
    insertCalls(
      project_id,
      ['task-a', 'task-b', 'task-b', 'wide-c'].map((task_name, at) => {
        return { observation_id: `${at}`, task_name }
      }),
    ),
  )

  /** Rows of a statement that has more of them. */
  const cut = (rows: Rows) => rows.map((row) => ({ ...row, total: String(rows.length + 1) }))

  /** Opens the signals over a store that answers some statements in its own way. */
  function signalsWith(answer: (params: string, rows: Rows) => Rows) {
    const statements: string[] = []
    const ofProject = stores.columnar.ofProject(parseProjectId(project_id))
    const read: ColumnarServer['read'] = async <Row>(...[sql, params, options]: ReadArguments) => {
      const text = JSON.stringify(params, (_, value) => (typeof value === 'bigint' ? 0 : value))
      statements.push(text)
      const result = await ofProject.read<Row & object>(sql, params, options)
      return { ...result, rows: answer(text, result.rows) as Row[] }
    }
    return {
      statements,
      signals: openSignals({
        ...stores.options,
        columnar: { ofProject: () => ({ ...ofProject, read }) },
      }),
    }
  }

  test('share a check for late rows, a statement for sums and one for percentiles', async () => {
    const { signals, statements } = signalsWith((_, rows) => rows)
    const measured = await signals.measure(request)
    expect(statements).toHaveLength(3)
    expect(measured.map(({ rule_id }) => rule_id)).toEqual(slots.map(({ rule_id }) => rule_id))
    expect(measured.map((one) => [...samplesOf(one).values()])).toMatchObject(
      [1, 1, 2, 2, 1, 1].map((samples) => [{ samples }]),
    )
  })

  test('do not fail with the one that needs too much memory', async () => {
    const { signals } = signalsWith((params, rows) => {
      if (params.includes('wide')) throw new ColumnarUnavailable('memory limit', { code: 241 })
      return rows
    })
    const measured = await signals.measure(request)
    expect(measured.slice(4)).toMatchObject(
      [1, 2].map(() => ({ error: expect.stringContaining('more memory') })),
    )
    expect(measured.slice(0, 4)).toEqual((await stores.signals.measure(request)).slice(0, 4))
  })

  test('are measured one by one if together they have too many groups', async () => {
    const { signals, statements } = signalsWith((params, rows) =>
      params.includes('task-a') && params.includes('task-b') ? cut(rows) : rows,
    )
    expect(await signals.measure(request)).toEqual(await stores.signals.measure(request))
    expect(statements).toHaveLength(9)
  })

  test('are measured window by window if one has too many rows', async () => {
    let cuts = 0
    const { signals } = signalsWith((params, rows) => {
      if (!params.includes('[')) return rows
      cuts += 1
      return cut(rows)
    })
    expect(await signals.measure(request)).toEqual(await stores.signals.measure(request))
    expect(cuts).toBe(8)
  })
})

test('the lag of a project is the sample of `ingest_lag`', async () => {
  const rule = ruleOf({ condition: { signal: 'ingest_lag', longer_than: '1m' } })
  const request = { project_id: newId(), slots: [{ rule_id: 'r', rule, end_ms }], lag_ms: 90_000 }
  expect(await stores.signals.measure(request)).toMatchObject([
    { groups: [{ group: {}, sample: { value: 90_000, lag_ms: 90_000 } }] },
  ])
})

test('past slots have the samples that were measured at each of them', async () => {
  // Past slots are read from sums of minutes, which count late calls by the default delay.
  const byDefault = measuredRules.map((rule) => ({ ...rule, delay: '1m' }))
  const rules = fc.array(byDefault, { minLength: 25, maxLength: 25, size: 'max' })
  await fc.assert(
    fc.asyncProperty(signalData, rules, async (data, asked) => {
      const project_id = newId()
      await stores.store(project_id, data)
      const rows = naiveRowsOf(data)
      const range = { from_ms: end_ms - 4 * 60_000, to_ms: end_ms + 10_000 }
      for (const rule of asked) {
        const { slots } = await stores.signals.measureRange({ project_id, rule, ...range })
        const ends: number[] = []
        for await (const { end_ms: at_ms, groups } of slots) {
          ends.push(at_ms)
          const expected = naiveSamples(rows, { rule, end_ms: at_ms, lag_ms: 0 })
          expectSamples(
            rule,
            new Map(groups.map((one) => [groupKey(one.group), one.sample])),
            expected,
          )
        }
        const isMeasured = slotReading({ rule_id: '', rule, end_ms })?.signal !== undefined
        expect(ends.length <= 4 && ends.every((one) => one % 60_000 === 0)).toBe(true)
        if (isMeasured && ends.length > 0) expect(ends.at(-1)).toBe(end_ms)
      }
    }),
    { numRuns: fuzzRuns(2), endOnFailure: true },
  )
}, 120_000)

describe('a range of past slots', () => {
  const condition = { signal: 'cost', window: '10m', threshold: 1 }
  const rule = ruleOf({ condition })
  const collect = async (project_id: string, one: Rule, from_ms: number) => {
    const range = await stores.signals.measureRange({
      project_id,
      rule: one,
      from_ms,
      to_ms: end_ms,
    })
    const slots: number[] = []
    for await (const { end_ms: at_ms } of range.slots) slots.push(at_ms)
    return { ...range, slots }
  }

  test('of a sum that is compared with `lt` begins where a whole window is stored', async () => {
    const project_id = newId()
    const oldest_ms = end_ms - 2 * 86_400_000 + 1_500
    await insertCalls(project_id, [{ start_time: BigInt(oldest_ms) * 1_000_000n }])
    const few = ruleOf({ condition: { ...condition, op: 'lt' } })
    const { available_from_ms, slots } = await collect(project_id, few, end_ms - 7 * 86_400_000)
    expect(available_from_ms).toBe(oldest_ms)
    expect(slots[0]).toBe(end_ms - 2 * 86_400_000 + 11 * 60_000)
    const more = await collect(project_id, rule, end_ms - 7 * 86_400_000)
    expect(more.slots[0]).toBe(end_ms - 2 * 86_400_000 + 60_000)
  })

  test('of young rows begins with them, as the evaluator did', async () => {
    const project_id = newId()
    const oldest_ms = end_ms - 25 * 60_000 + 1_500
    await insertCalls(project_id, [{ start_time: BigInt(oldest_ms) * 1_000_000n }])
    for (const one of [
      { condition: { signal: 'absent', window: '20m' } },
      { condition: { ...condition, window: '1h' } },
      { condition: { ...condition, window: '1h', op: 'lt' } },
    ]) {
      const { slots } = await collect(project_id, ruleOf(one), end_ms - 7 * 86_400_000)
      expect(slots[0], JSON.stringify(one)).toBe(end_ms - 24 * 60_000)
      expect(slots).toHaveLength(25)
    }
  })

  test('has the groups that had rows before it, for rules that fire without rows', async () => {
    const project_id = newId()
    const call = (hours: number, task_name: string) => {
      const start_time = BigInt(end_ms - hours * 3_600_000) * 1_000_000n
      return { start_time, end_time: start_time + second_ns, task_name, observation_id: task_name }
    }
    await insertCalls(project_id, [call(40, 'old'), call(5, 'a'), call(0.5, 'b')])
    const from_ms = end_ms - 2 * 3_600_000
    const absent = { condition: { signal: 'absent', window: '1h' }, group_by: ['task_name'] }
    const { earlier } = await collect(project_id, ruleOf(absent), from_ms)
    expect(earlier).toEqual([{ task_name: 'a' }])
    const { earlier: none } = await collect(project_id, rule, from_ms)
    expect(none).toEqual([])
  })

  test('of a project without rows is empty', async () => {
    const found = await collect(newId(), rule, end_ms - 3_600_000)
    expect(found).toMatchObject({ available_from_ms: undefined, slots: [] })
  })
})

test('examples are the worst calls of the group in the window, of this project only', async () => {
  const [project_id, neighbour] = [newId(), newId()]
  const slow = (trace: number, latency_s: bigint, more: Partial<Observation> = {}) => {
    const start_time = BigInt(end_ms - 30_000) * 1_000_000n
    const trace_id = `0198c0de-0000-7000-8000-00000000000${trace}`
    const times = { start_time, end_time: start_time + latency_s * second_ns }
    return { trace_id, observation_id: `e${trace}`, task_name: 'pay', ...times, ...more }
  }
  await insertCalls(project_id, [
    slow(1, 4n),
    slow(2, 9n),
    slow(3, 20n, { task_name: "pa'y" }),
    slow(4, 30n, { start_time: BigInt(end_ms - 700_000) * 1_000_000n }),
    slow(5, 6n, { environment: 'staging', task_id: '' }),
  ])
  await insertCalls(neighbour, [slow(6, 60n)])
  const rule = ruleOf({
    condition: { signal: 'latency_p95', window: '5m', threshold: 1 },
    selector: { task_name: ['pa*'] },
    group_by: ['task_name'],
  })
  const asked = { project_id, rule, at_ms: end_ms }
  const found = await stores.signals.examples({ ...asked, group: { task_name: 'pay' } })
  expect(found.map(({ trace_id, value }) => [trace_id?.at(-1), value])).toEqual([
    ['2', 9000],
    ['5', 6000],
    ['1', 4000],
  ])
  expect(found[0]).toMatchObject({
    kind: 'trace',
    task_id: 'task-1',
    summary: 'A call with 9000 ms.',
  })
  const quoted = await stores.signals.examples({ ...asked, group: { task_name: "pa'y" } })
  expect(quoted.map(({ value }) => value)).toEqual([20_000])
})

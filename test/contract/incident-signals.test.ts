import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { groupKey } from '../../src/capabilities/incidents/evaluation/groups.ts'
import type { Measured } from '../../src/capabilities/incidents/ports.ts'
import { type Rule, ruleShape } from '../../src/capabilities/incidents/rules/rule.ts'
import { openSignals } from '../../src/capabilities/incidents/signals/open-signals.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { openColumnar } from '../../src/platform/columnar/index.ts'
import { columnarOptions, testClickHouse } from '../support/clickhouse.ts'
import { naiveSamples } from '../support/incidents/naive-signals.ts'
import {
  end_ms,
  measuredRules,
  naiveRowsOf,
  type SignalData,
  signalData,
} from '../support/incidents/signal-data.ts'
import { openSignalStores, type SignalStores } from '../support/incidents/signal-stores.ts'
import { observationOf } from '../support/observations.ts'

let stores: SignalStores

beforeAll(async () => {
  stores = await openSignalStores()
})
afterAll(() => stores?.close())

/** Measures rules at some slots, and compares each sample with the naive one. */
async function compare(project_id: string, data: SignalData, rules: readonly Rule[]) {
  const slots = rules.flatMap((rule, at) =>
    [0, 60_000, 5 * 60_000].map((before_ms) => ({
      ...{ rule_id: `r${at}`, rule, end_ms: end_ms - before_ms },
    })),
  )
  const measured = await stores.signals.measure({ project_id, slots, lag_ms: 7 })
  expect(measured).toHaveLength(slots.length)
  const rows = naiveRowsOf(data)
  for (const one of measured) {
    const expected = naiveSamples(rows, { rule: one.rule, end_ms: one.end_ms, lag_ms: 7 })
    const got = samplesOf(one)
    const about = JSON.stringify(one.rule)
    expect([...got.keys()].toSorted(), about).toEqual([...expected.keys()].toSorted())
    for (const [key, sample] of expected) {
      expect(rounded(got.get(key)), `${about} ${key}`).toEqual(rounded(sample))
    }
    expect(one).toMatchObject({ others: 0 })
  }
}

function samplesOf(measured: Measured | undefined) {
  if (measured === undefined || 'error' in measured) {
    throw new Error(`${measured?.error} ${JSON.stringify(measured?.rule)}`)
  }
  return new Map(measured.groups.map(({ group, sample }) => [groupKey(group), sample]))
}

/** Sums of floating-point numbers differ by their order; scores are rounded to 4 digits. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toFixed(2))
  if (Array.isArray(value)) {
    const list = value.map(rounded)
    return typeof list[0] === 'number' ? list.toSorted() : list
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rounded(one)]))
}

const ruleOf = (body: object) => ruleShape.parse({ name: 'rule', severity: 'low', ...body })

const second_ns = 1_000_000_000n

/** Inserts calls that start in the last minute. */
async function insertCalls(project_id: string, calls: readonly Partial<Observation>[]) {
  const rows = calls.map((call, at) => {
    const start_time = BigInt(end_ms - 30_000) * 1_000_000n
    return observationOf({ project_id, observation_id: `o${at}`, start_time, ...call })
  })
  await stores.observations.insert(rows, { token: newId() })
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
      await compare(project_id, data, asked)
    }),
    { numRuns: 4, endOnFailure: true },
  )
}, 120_000)

test('p95 is the value at the nearest rank', async () => {
  const project_id = newId()
  const counts = [1, 2, 19, 20, 21, 39, 40, 100]
  const start_time = BigInt(end_ms - 30_000) * 1_000_000n
  const calls = counts.flatMap((count) =>
    Array.from({ length: count }, (_, at) => ({
      ...{ observation_id: `${count}-${at}`, task_name: `n${count}`, start_time },
      end_time: start_time + BigInt(at + 1) * second_ns,
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

test('the lag of a project is the sample of `ingest_lag`', async () => {
  const rule = ruleOf({ condition: { signal: 'ingest_lag', longer_than: '1m' } })
  const request = { project_id: newId(), slots: [{ rule_id: 'r', rule, end_ms }], lag_ms: 90_000 }
  expect(await stores.signals.measure(request)).toMatchObject([
    { groups: [{ group: {}, sample: { value: 90_000, lag_ms: 90_000 } }] },
  ])
})

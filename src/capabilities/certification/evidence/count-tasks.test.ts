import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import type { EvidenceItem } from '../gates/evidence-item.ts'
import { countAltered, jumpOf, openTaskCounter } from './count-tasks.ts'
import type { TaskRow } from './task-item.ts'

const at = (ms: number) => new Date(ms).toISOString()

const row = (change: Partial<TaskRow>): TaskRow => ({
  ...{ task_id: 'a', name: 'refund', user_id: null, conversation_id: null, state: 'completed' },
  ...{ started_at: at(0), created_at: at(0), calls: 1, errors: 0, total_tokens: 9 },
  ...{ input_tokens: 4, open_ms: 5, cost_usd: '0', unpriced_calls: 0, duration_ms: 5 },
  ...{
    trust_score: null,
    is_analysed: true,
    is_checked: true,
    is_unchecked: false,
    is_unverified: false,
  },
  ...{ has_failure: false, has_loop: false, has_context_failure: false },
  has_unsupported_claim: false,
  ...change,
})

function count(rows: readonly TaskRow[], looks: { end: string; read_at: string }[] = []) {
  const counter = openTaskCounter({ looks, read_at: at(10_000_000) })
  for (const one of rows) counter.add(one)
  return counter.counts(0)
}

const minutes = fc.integer({ min: 0, max: 60 }).map((minute) => minute * 60_000)

test('late tasks are those of a naive model', () => {
  const tasks = fc.array(fc.record({ started: minutes, stored: minutes }), { maxLength: 30 })
  const looks = fc.array(fc.record({ end: minutes, read: minutes }), { maxLength: 5 })
  fc.assert(
    fc.property(tasks, looks, (drawn, seen) => {
      let late = 0
      for (const { started, stored } of drawn) {
        let isLate = started - stored > 300_000
        for (const { end, read } of seen) if (stored > read && started < end) isLate = true
        if (isLate) late += 1
      }
      const rows = drawn.map(({ started, stored }) =>
        row({ started_at: at(started), created_at: at(stored) }),
      )
      const earlier = seen.map(({ end, read }) => ({ end: at(end), read_at: at(read) }))
      expect(count(rows, earlier)).toMatchObject({ late, total: drawn.length })
    }),
    { numRuns: fuzzRuns(200) },
  )
})

describe('equal tasks', () => {
  test('without tokens are all those of a name, with any duration', () => {
    const empty = [1, 2, 3].map((duration_ms) => row({ total_tokens: 0, duration_ms }))
    expect(count(empty).equal).toBe(2)
    expect(count([...empty, row({ total_tokens: 0, name: 'order' })]).equal).toBe(2)
  })

  test('with tokens differ by tokens, duration or time to their end', () => {
    expect(count([row({}), row({})]).equal).toBe(1)
    const others = [row({ total_tokens: 10 }), row({ duration_ms: 6 }), row({ open_ms: 6 })]
    expect(count([row({}), ...others]).equal).toBe(0)
  })
})

test('missing values are counted apart', () => {
  const rows = [
    row({ state: 'running' }),
    row({ is_analysed: false, is_unchecked: true }),
    row({ is_unchecked: true }),
    row({ is_unverified: true }),
    row({ unpriced_calls: 1 }),
  ]
  expect(count(rows)).toMatchObject({
    ...{ running: 1, unanalysed: 1, unchecked: 1, unverified: 1, unpriced: 1 },
  })
})

describe('a jump', () => {
  const hour = 3_600_000
  const steady = (n: number, from: number, to: number) =>
    Array.from({ length: n }, (_, index) => from + ((to - from) * index) / n)

  test('is what comes beyond ten times the pace until the first look', () => {
    const before = steady(100, 0, hour)
    const burst = steady(500, hour + 1, hour + 60_000)
    // 100 an hour allow 1,000 / 60 in the minute after the look.
    expect(jumpOf([...before, ...burst], [hour], hour + 60_000)).toBe(483)
    // Tasks at ten times the pace are not a jump. After an hour a burst is within the pace.
    expect(jumpOf([...before, ...steady(1_000, hour + 1, 2 * hour)], [hour], 2 * hour)).toBe(0)
    expect(jumpOf([...before, ...burst], [hour], 2 * hour)).toBe(0)
  })

  test('is not hidden by another look, and needs a look that found tasks', () => {
    const tasks = [...steady(100, 0, hour), ...steady(500, hour + 1, hour + 60_000)]
    expect(jumpOf(tasks, [hour, hour + 60_000], hour + 61_000)).toBe(483)
    expect(jumpOf(tasks, [], hour)).toBe(0)
    expect(jumpOf(steady(500, 1, 1_000), [0], 60_000)).toBe(0)
    expect(jumpOf([], [0], 60_000)).toBe(0)
  })
})

test('altered tasks are gone, or have another outcome, user or name', () => {
  const item = (id: string, change: Partial<EvidenceItem> = {}): EvidenceItem => ({
    ...{ id, cluster: 'u', group: 'refund', case_id: null, values: { task_success_rate: 1 } },
    ...change,
  })
  const before = [
    item('a'),
    item('b'),
    item('c'),
    item('d'),
    item('e'),
    item('run', { values: {} }),
  ]
  const after = [
    item('a'),
    item('b', { values: { task_success_rate: 0 } }),
    item('c', { cluster: 'v' }),
    item('d', { group: 'order' }),
    item('run'),
    item('new'),
  ]
  expect(countAltered(before, after)).toBe(4)
  expect(countAltered([item('a')], [item('a', { values: {} })])).toBe(1)
  expect(countAltered([item('a', { group: null })], [item('a')])).toBe(0)
})

import { describe, expect, test } from 'vitest'
import {
  failureRule,
  minute_ms,
  Scenario,
  start_ms,
  valueSample,
} from '../../../../test/support/incident-steps.ts'
import { admitGroups, groupKey } from '../rules/groups.ts'
import { newestSlot, planSlots } from './slots.ts'

const rule = failureRule()
const at = (minute: number) => start_ms + minute * minute_ms
/** A clock at which the newest slot is that of the minute. */
const clock = (minute: number) => at(minute + 1) + 59_999

test('slot_end = floor((now − delay) / interval) · interval', () => {
  expect(newestSlot(rule, at(10))).toBe(at(9))
  expect(newestSlot(rule, at(10) - 1)).toBe(at(8))
  expect(newestSlot(failureRule({ delay: '3m', interval: '5m' }), at(12))).toBe(at(5))
})

test('the first evaluation of a rule has the newest slot', () => {
  const { late, first, gap } = planSlots(rule, null, clock(7))
  expect(late).toEqual([])
  expect(first).toEqual([{ end_ms: at(7), is_last_attempt: false }])
  expect(gap).toBeNull()
})

test('an evaluation repeats the last 5 complete slots, then has the next one', () => {
  const { late, first } = planSlots(rule, at(7), clock(8))
  expect(late).toEqual([at(3), at(4), at(5), at(6), at(7)])
  expect(first).toEqual([{ end_ms: at(8), is_last_attempt: false }])
})

test('within an interval there is no new slot', () => {
  expect(planSlots(rule, at(7), clock(7)).first).toEqual([])
})

test('missed slots are evaluated in order up to max(`for`, 15 min)', () => {
  const { first, gap } = planSlots(rule, at(0), clock(15))
  expect(first.map(({ end_ms }) => end_ms)).toEqual(Array.from({ length: 15 }, (_, i) => at(i + 1)))
  expect(gap).toBeNull()
  const long = planSlots(failureRule({ for: '1h' }), at(0), clock(60))
  expect(long.first).toHaveLength(60)
  expect(long.gap).toBeNull()
})

test('after an outage the oldest missed slots are evaluated first, up to the limit', () => {
  const { first, gap } = planSlots(rule, at(0), clock(180))
  expect(first.map(({ end_ms }) => (end_ms - start_ms) / minute_ms)).toEqual([
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    180,
  ])
  expect(gap).toEqual({ from_ms: at(16), to_ms: at(179) })
  expect(first.map(({ is_last_attempt }) => is_last_attempt)).toEqual([
    ...Array.from({ length: 15 }, () => true),
    false,
  ])
})

test('a backlog holds up a rule for 15 minutes at most: then the oldest slot is skipped', () => {
  const waiting = new Scenario(rule).at(0, valueSample(0))
  const stuck = valueSample(1, { lag_ms: 3_600_000 })
  let last_ms = at(0)
  for (let minute = 1; minute <= 17; minute++) {
    const { first, gap } = planSlots(rule, last_ms, clock(minute))
    expect(gap).toBeNull()
    for (const { end_ms, is_last_attempt } of first) {
      waiting.at((end_ms - start_ms) / minute_ms, stuck, { is_last_attempt })
    }
    last_ms = waiting.state?.slot_ms ?? 0
    expect(last_ms).toBe(at(Math.max(0, minute - 15)))
  }
})

describe('groups', () => {
  test('overflow: first come', () => {
    expect(admitGroups(['b', 'c'], ['d', 'b', 'a'], 3)).toEqual({
      admitted: ['b', 'c', 'a'],
      overflow: 1,
    })
  })

  test('a group with an open incident keeps its place', () => {
    // Groups with state are known; `step` never forgets one that has an open incident.
    const { admitted, overflow } = admitGroups(['open', 'idle'], ['new'], 2)
    expect(admitted).toContain('open')
    expect(overflow).toBe(1)
  })

  test('a rule has at most 500 groups', () => {
    const many = Array.from({ length: 900 }, (_, i) => `g${i}`)
    expect(admitGroups([], many)).toMatchObject({ overflow: 400 })
  })

  test('keys of groups differ exactly if their values differ', () => {
    expect(groupKey({ model: 'a', release: 'b' })).toBe(groupKey({ release: 'b', model: 'a' }))
    expect(groupKey({ model: 'a","release":"b' })).not.toBe(groupKey({ model: 'a', release: 'b' }))
    expect(groupKey({})).toBe('{}')
  })
})

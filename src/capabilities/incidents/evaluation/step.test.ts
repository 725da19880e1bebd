import { describe, expect, test } from 'vitest'
import {
  failureRule,
  minute_ms,
  Scenario,
  start_ms,
  valueSample,
} from '../../../../test/support/incident-steps.ts'
import type { Sample } from './contract.ts'
import { afterReopen, afterResolve } from './step.ts'

const partial = (value: number | null, lag_ms = 5 * minute_ms) => valueSample(value, { lag_ms })

function scenario(more: object = {}): Scenario {
  return new Scenario(failureRule(more))
}

function absentScenario(more: object = {}): Scenario {
  return scenario({ condition: { signal: 'absent', window: '5m' }, ...more })
}

describe('states', () => {
  test('a condition that becomes true fires, and ends with the first false slot', () => {
    expect(scenario().next(0, 3, 4, 5, 3, 0).log).toEqual(['fired 2', 'ended 4'])
  })

  test('`for` waits until the condition was true that long', () => {
    const two = scenario({ for: '2m' })
    expect(two.next(9, 9, 0, 9, 9).state?.phase).toBe('pending')
    expect(two.next(9).log).toEqual(['fired 5'])
  })

  test('`keep_firing_for` counts from the last true slot', () => {
    const kept = scenario({ keep_firing_for: '3m' }).next(9, 0, 0, 9, 0, 0)
    expect(kept.log).toEqual(['fired 0'])
    expect(kept.next(0).log).toEqual(['fired 0', 'ended 6'])
  })

  test('samples below `min_samples` make the condition false', () => {
    const condition = { signal: 'ttft_p95', window: '10m', threshold: 4000, min_samples: 30 }
    const slow = (samples: number) => valueSample(9000, { samples } as Partial<Sample>)
    expect(scenario({ condition }).next(slow(29), slow(30), slow(29)).log).toEqual([
      'fired 1',
      'ended 2',
    ])
  })

  test('a count or sum without rows is not data, not 0', () => {
    const few = { signal: 'tokens', window: '5m', op: 'lt', threshold: 10 }
    expect(scenario({ condition: few, no_data: 'keep' }).next(20, null, null, 5).log).toEqual([
      'fired 3',
    ])
  })

  test('`no_data: ok` ends, `no_data: alerting` fires', () => {
    expect(scenario().next(9, null).log).toEqual(['fired 0', 'ended 1'])
    expect(scenario({ no_data: 'alerting' }).next(0, null, 0).log).toEqual(['fired 1', 'ended 2'])
  })

  test('`no_data: keep` does not renew `keep_firing_for`', () => {
    const kept = scenario({ no_data: 'keep', keep_firing_for: '3m' })
    expect(kept.next(9, null, null, null, 0).log).toEqual(['fired 0', 'ended 4'])
  })

  test('`no_data: keep` does not stop `for`', () => {
    const kept = scenario({ no_data: 'keep', for: '3m' })
    expect(kept.next(0, null, 9, null, null, 9).log).toEqual(['fired 5'])
  })

  test('a slot without data under `no_data: keep` begins no run', () => {
    const kept = scenario({ no_data: 'keep', for: '1m' }).next(0, null, 9)
    expect(kept.log).toEqual([])
    expect(kept.state?.phase).toBe('pending')
  })

  test('a group that was never seen is not absent', () => {
    expect(absentScenario().next(null, null, 1, null).log).toEqual(['fired 3'])
  })

  test('an ungrouped rule that never saw a row waits', () => {
    expect(scenario({ no_data: 'alerting' }).next(null, null).log).toEqual([])
    expect(scenario({ no_data: 'ok', for: '1m' }).next(null, 9, 9).log).toEqual(['fired 2'])
  })

  test('a group without rows for 24 h is forgotten when it has no open incident', () => {
    const idle = scenario().next(1)
    idle.at(24 * 60 - 1, valueSample(null))
    expect(idle.state).not.toBeNull()
    idle.at(24 * 60, valueSample(null))
    expect(idle.state).toBeNull()
    expect(idle.log).toEqual(['forgotten 1440'])
  })

  test('rows that arrive late count as rows of their slot', () => {
    const idle = scenario().next(1, null).late(1, 2).at(1440, valueSample(null))
    expect(idle.state).not.toBeNull()
    expect(idle.at(1441, valueSample(null)).log).toEqual(['forgotten 1441'])
  })

  test('a group with an open incident is kept, however long it has no rows', () => {
    const firing = absentScenario().next(1, null).at(3000, valueSample(null))
    expect(firing.log).toEqual(['fired 1'])
    const open = scenario().next(1)
    open.has_open_incident = true
    expect(open.at(3000, valueSample(null)).state).not.toBeNull()
  })

  test('`ingest_lag` and `absent` need no threshold beyond their own fields', () => {
    const lagging = scenario({ condition: { signal: 'ingest_lag', longer_than: '5m' } })
    const lag = (lag_ms: number) => valueSample(null, { lag_ms })
    expect(lagging.next(lag(0), lag(300_000), lag(300_001), lag(0)).log).toEqual([
      'fired 2',
      'ended 3',
    ])
  })
})

describe('resolved by hand', () => {
  const resolve = (one: Scenario) => {
    const at_ms = start_ms + one.minute * minute_ms - 1
    if (one.state !== null) one.state = afterResolve(one.rule, one.state, at_ms)
    return one
  }

  test('while the condition is true: quiet until it has been false once', () => {
    const quiet = resolve(scenario().next(9, 9)).next(9, 9, 9)
    expect(quiet.state).toMatchObject({ phase: 'quiet', severity: null })
    expect(quiet.next(0, 9).log).toEqual(['fired 0', 'fired 6'])
  })

  test('while the condition is false: fires at the next true slot', () => {
    const kept = resolve(scenario({ keep_firing_for: '1h' }).next(9, 0))
    expect(kept.next(9).log).toEqual(['fired 0', 'fired 2'])
  })

  test('partial slots, slots without data that are kept, and late rows do not end the quiet', () => {
    const quiet = resolve(scenario({ no_data: 'keep' }).next(9, 9))
    quiet.next(null, partial(0)).late(1, 0).late(2, 9)
    expect(quiet.state?.phase).toBe('quiet')
    expect(quiet.at(3, valueSample(9)).log).toEqual(['fired 0'])
  })

  test('reopened by hand: the group fires again, and its end resolves the incident', () => {
    const one = resolve(scenario().next(9, 9))
    if (one.state !== null) one.state = afterReopen(one.state, { severity: 'high', tier: null })
    expect(one.state).toMatchObject({ phase: 'firing', severity: 'high' })
    expect(one.next(9, 0).log).toEqual(['fired 0', 'ended 3'])
  })

  test('a late pass after the quiet fires on none of the true slots before its end', () => {
    const over = resolve(scenario().next(9, 9)).next(9, 9, 0)
    expect(over.late(2, 9).late(3, 9).late(4, 9).next(0).late(3, 9).log).toEqual(['fired 0'])
    expect(over.next(9).log).toEqual(['fired 0', 'fired 6'])
  })

  test('a slot at or before the resolve that is evaluated after it is quiet', () => {
    const two_ms = start_ms + 2 * minute_ms
    const kept = scenario({ keep_firing_for: '1h' }).next(9, 0)
    if (kept.state !== null) kept.state = afterResolve(kept.rule, kept.state, two_ms)
    expect(kept.next(9).state).toMatchObject({ phase: 'quiet', severity: null })
    expect(kept.next(9, 0, 9).log).toEqual(['fired 0', 'fired 5'])
  })

  test('a group that is not firing keeps its phase, and knows the time of the resolve', () => {
    const { rule, state } = scenario({ for: '5m' }).next(9)
    const ended_ms = start_ms + minute_ms
    expect(state && afterResolve(rule, state, ended_ms)).toEqual({ ...state, ended_ms })
  })
})

describe('gaps', () => {
  test('`for` does not run across a gap', () => {
    const gone = scenario({ for: '3m' }).next(9, 9, 9).miss(10).next(9, 9, 9)
    expect(gone.log).toEqual([])
    expect(gone.next(9).log).toEqual(['fired 16'])
  })

  test('a firing group fires on across a gap, and ends with a false slot after it', () => {
    expect(scenario().next(9).miss(60).next(9, 0).log).toEqual(['fired 0', 'ended 62'])
  })
})

describe('partial slots', () => {
  test('the slot does not advance, and is evaluated again', () => {
    const late = scenario().next(0, partial(1))
    expect(late.state?.slot_ms).toBe(start_ms)
    expect(late.at(1, valueSample(9)).log).toEqual(['fired 1'])
  })

  test('a count that already exceeds its threshold fires', () => {
    expect(scenario().next(0, partial(4)).log).toEqual(['fired 1'])
  })

  test('a count below its threshold waits, and ends nothing', () => {
    expect(scenario().next(9, partial(0), partial(0)).log).toEqual(['fired 0'])
  })

  test('a count compared with `lt` waits', () => {
    const few = { signal: 'tokens', window: '5m', op: 'lt', threshold: 10 }
    expect(scenario({ condition: few }).next(partial(5)).log).toEqual([])
  })

  test('rates and means wait', () => {
    const rate = { signal: 'error_rate', window: '5m', threshold: 0.1 }
    expect(scenario({ condition: rate }).next(partial(0.9)).log).toEqual([])
    const mean = { signal: 'tokens', window: '5m', threshold: 10, per: 'task' }
    expect(scenario({ condition: mean }).next(partial(90)).log).toEqual([])
    const hourly = { signal: 'cost', window: '5m', threshold: '0.5', per: 'hour' }
    expect(scenario({ condition: hourly }).next(partial(90)).log).toEqual(['fired 0'])
  })

  test('`absent` and `no_data` wait', () => {
    expect(absentScenario().next(1, partial(null)).log).toEqual([])
    expect(scenario({ no_data: 'alerting' }).next(1, partial(null)).log).toEqual([])
  })

  test('`ingest_lag` fires while the lag makes each slot partial, and its end waits', () => {
    const lagging = scenario({ condition: { signal: 'ingest_lag', longer_than: '5m' } })
    const lag = (lag_ms: number) => valueSample(null, { lag_ms })
    expect(lagging.next(lag(300_001), lag(200_000)).log).toEqual(['fired 0'])
    expect(lagging.next(lag(1000)).log).toEqual(['fired 0', 'ended 2'])
  })

  test('slots that are certain count for `for`, and a partial slot between them does not', () => {
    const sure = scenario({ for: '2m' }).next(9, partial(9), partial(9))
    expect(sure.log).toEqual(['fired 2'])
    const doubtful = scenario({ for: '2m' }).next(9, partial(1), partial(9), partial(9))
    expect(doubtful.log).toEqual([])
    expect(doubtful.next(partial(9)).log).toEqual(['fired 4'])
  })

  test('a slot that becomes complete joins the certain slots after it', () => {
    const joined = scenario({ for: '3m' }).next(9, partial(1), partial(9)).at(1, valueSample(9))
    expect(joined.at(3, partial(9)).log).toEqual(['fired 3'])
  })

  test('a certain slot that is evaluated again changes nothing', () => {
    const again = scenario({ for: '3m' }).next(partial(9), partial(9), partial(9))
    expect(again.at(0, partial(9)).at(3, partial(9)).log).toEqual(['fired 3'])
  })

  test('a certain slot ends with its complete slot', () => {
    const once = scenario({ for: '3m' }).next(0, partial(9)).at(1, valueSample(0))
    expect(once.state).toMatchObject({ phase: 'ok', ahead: null, run: null })
  })

  test('a false slot before the one that opened ends nothing', () => {
    const ahead = scenario().next(0, partial(1), partial(9)).at(1, valueSample(1))
    expect(ahead.log).toEqual(['fired 2'])
    expect(ahead.at(2, valueSample(9)).at(3, valueSample(1)).log).toEqual(['fired 2', 'ended 3'])
  })

  test('at the catch-up limit a partial slot is skipped, and `for` does not run across it', () => {
    const late = scenario({ for: '2m' }).next(9, 9)
    late.at(2, partial(1), { is_last_attempt: true })
    expect(late.state).toMatchObject({ slot_ms: start_ms + 2 * minute_ms, phase: 'pending' })
    expect(late.at(3, valueSample(9)).at(4, valueSample(9)).log).toEqual([])
  })
})

describe('late rows', () => {
  test('the last 5 complete slots may open, marked late, and the next slot resolves', () => {
    const late = scenario().next(0, 0, 0, 0, 0, 0).late(1, 9).late(2, 0).next(0)
    expect(late.log).toEqual(['fired late 1', 'ended 6'])
  })

  test('a slot before the last 5 opens nothing', () => {
    expect(scenario().next(0, 0, 0, 0, 0, 0).late(0, 9).log).toEqual([])
  })

  test('late rows never resolve', () => {
    expect(scenario().next(9, 9).late(0, 0).late(1, 0).log).toEqual(['fired 0'])
  })

  test('a slot before the opening of a known incident of the same key opens nothing', () => {
    const known = scenario().next(0, 0, 9, 0).late(1, 9).late(2, 9)
    expect(known.log).toEqual(['fired 2', 'ended 3'])
    expect(known.next(0).late(4, 9).log).toEqual(['fired 2', 'ended 3', 'fired late 4'])
  })

  test('a slot before the resolve of an incident that another group of the key opened', () => {
    const known_until_ms = start_ms + 2 * minute_ms
    const shared = scenario().next(0, 0, 0, 0)
    for (const minute of [2, 3]) shared.at(minute, valueSample(9), { pass: 'late', known_until_ms })
    expect(shared.log).toEqual(['fired late 3'])
  })

  test('`for` counts the slots that late rows made true', () => {
    const late = scenario({ for: '3m' }).next(9, 0, 9, 9)
    expect(late.log).toEqual([])
    expect(late.late(0, 9).late(1, 9).late(2, 9).late(3, 9).log).toEqual(['fired late 3'])
  })

  test('late rows may be the first of a group', () => {
    const first = scenario().late(1, null)
    expect(first.state).toBeNull()
    first.late(2, 9).late(3, null)
    expect(first.log).toEqual(['fired late 2'])
    expect(first.at(4, valueSample(null)).log).toEqual(['fired late 2', 'ended 4'])
  })

  test('late rows of a partial slot wait', () => {
    expect(scenario().next(0, 0).late(1, partial(9)).log).toEqual([])
  })
})

test('a scenario of hours is the same with a state that was stored as JSON', () => {
  const values = Array.from({ length: 300 }, (_, at) => [0, 9, 9, null, 9, 0][(at * 7) % 6] ?? null)
  const rule = { for: '1m', no_data: 'keep', keep_firing_for: '2m' }
  const [plain, stored] = [scenario(rule), scenario(rule)]
  for (const value of values) {
    plain.next(value)
    stored.next(value)
    stored.state = JSON.parse(JSON.stringify(stored.state))
  }
  expect(stored.log).toEqual(plain.log)
  expect(plain.log.length).toBeGreaterThan(10)
})

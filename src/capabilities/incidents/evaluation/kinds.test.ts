import { describe, expect, test } from 'vitest'
import {
  failureRule,
  minute_ms,
  Scenario,
  start_ms,
} from '../../../../test/support/incident-steps.ts'
import { effectiveTiers, splitTiers } from '../rules/burn-tiers.ts'
import type { Sample } from './contract.ts'
import { afterResolve } from './step.ts'

function burnRule(burn_rate: object, more: object = {}) {
  return failureRule({
    condition: undefined,
    severity: 'critical',
    burn_rate: { signal: 'failure_rate', objective: 0.95, preset: 'standard', ...burn_rate },
    ...more,
  })
}

type Tier = { bad: number; total: number; short?: [number, number]; is_filled?: boolean }

/** One tier for each entry; the short window has the same counts as the long one. */
function burn(...tiers: Tier[]): Sample {
  return {
    kind: 'burn_rate',
    lag_ms: 0,
    tiers: tiers.map(({ bad, total, short = [bad, total], is_filled = true }) => ({
      long: { bad, total },
      short: { bad: short[0], total: short[1] },
      is_filled,
    })),
  }
}

describe('burn rates', () => {
  const one = burnRule({ preset: undefined, tiers: [{ factor: 6, long: '6h', short: '30m' }] })

  test('both windows must exceed factor × (1 − objective)', () => {
    const both = new Scenario(one).next(
      burn({ bad: 30, total: 100 }), // 0.3 is not above 6 × 0.05
      burn({ bad: 31, total: 100, short: [3, 10] }),
      burn({ bad: 31, total: 100, short: [4, 10] }),
    )
    expect(both.log).toEqual(['fired 2'])
  })

  test('the threshold has no error of binary fractions', () => {
    // 6 × (1 − 0.9) is 0.5999999999999999 in binary fractions.
    const rule = burnRule({
      objective: 0.9,
      preset: undefined,
      tiers: [{ factor: 6, long: '6h', short: '30m' }],
    })
    expect(new Scenario(rule).next(burn({ bad: 60, total: 100 })).log).toEqual([])
  })

  test('`min_bad` counts in the long window', () => {
    const few = new Scenario(one).next(burn({ bad: 4, total: 4 }))
    expect(few.log).toEqual([])
    expect(few.next(burn({ bad: 5, total: 5, short: [1, 1] })).log).toEqual(['fired 1'])
  })

  test('a long window that history does not fill yet waits', () => {
    const new_ = new Scenario(one).next(burn({ bad: 50, total: 50, is_filled: false }))
    expect(new_.log).toEqual([])
    expect(new_.next(burn({ bad: 50, total: 50 })).log).toEqual(['fired 1'])
  })

  test('windows that wait neither end nor keep an incident of a filled tier', () => {
    const calm = { bad: 0, total: 90 }
    const two = new Scenario(burnRule({})).next(
      burn({ bad: 80, total: 90 }, calm, calm, { ...calm, is_filled: false }),
      burn(calm, calm, calm, { bad: 90, total: 90, is_filled: false }),
    )
    expect(two.log).toEqual(['fired 0', 'ended 1'])
  })

  test('the incident shows the fastest tier that fires, and a faster tier raises its severity', () => {
    const calm = { bad: 0, total: 90 }
    const hot = { bad: 85, total: 90 }
    const tiers = new Scenario(burnRule({})).next(
      burn(calm, calm, hot, hot),
      burn(calm, hot, hot, hot),
      burn(hot, hot, hot, hot),
      burn(calm, calm, hot, hot),
      burn(calm, calm, calm, calm),
    )
    expect(tiers.transitions).toEqual([
      { type: 'fired', slot_ms: start_ms, severity: 'medium', tier: 3, late: false },
      { type: 'raised', slot_ms: start_ms + minute_ms, severity: 'high', tier: 6 },
      { type: 'raised', slot_ms: start_ms + 2 * minute_ms, severity: 'critical', tier: 14.4 },
      { type: 'ended', slot_ms: start_ms + 4 * minute_ms },
    ])
  })

  test('a burn rate without rows is not data', () => {
    const calm = { bad: 0, total: 0 }
    const rule = burnRule({}, { no_data: 'alerting' })
    const seen = new Scenario(rule).next(burn(calm, calm, calm, calm))
    expect(seen.log).toEqual([])
    seen.next(burn(calm, calm, calm, { bad: 0, total: 9 }), burn(calm, calm, calm, calm))
    expect(seen.log).toEqual(['fired 2'])
  })

  test('tiers that can never fire at the objective are left out and listed', () => {
    const { tiers, left_out } = splitTiers(
      burnRule({ objective: 0.9 }).burn_rate ?? never(),
      'high',
    )
    expect(tiers.map(({ factor, severity }) => [factor, severity])).toEqual([
      [6, 'high'],
      [3, 'medium'],
      [1, 'low'],
    ])
    expect(left_out).toEqual([
      {
        tier: { factor: 14.4, long: '1h', short: '5m' },
        reason: '14.4 × (1 − 0.9) = 1.44, and a share of bad items above 1.44 does not exist',
      },
    ])
  })

  test('a tier has the severity of the rule, one lower for each faster tier, at least `low`', () => {
    const severityOf = (severity: string) =>
      effectiveTiers(burnRule({}, { severity })).map((tier) => tier.severity)
    expect(severityOf('critical')).toEqual(['critical', 'high', 'medium', 'low'])
    expect(severityOf('medium')).toEqual(['medium', 'low', 'low', 'low'])
    expect(severityOf('info')).toEqual(['info', 'info', 'info', 'info'])
  })
})

describe('baselines', () => {
  const rule = failureRule({
    condition: undefined,
    baseline: { signal: 'tokens', per: 'task', max_ratio: 2, floor: 50, min_samples: 3 },
  })
  const baseline = (value: number | null, history: number[], samples = 10): Sample => ({
    kind: 'baseline',
    value,
    samples,
    history,
    lag_ms: 0,
  })
  const week = [100, 100, 110, 90, 100, 120, 80] // median 100, deviations 0 0 0 10 10 20 20
  const log = (...samples: Sample[]) => new Scenario(rule).next(...samples).log

  test('28 values of the same hour of day, at least 7 present: with fewer the rule waits', () => {
    expect(log(baseline(900, week.slice(1)), baseline(900, week))).toEqual(['fired 1'])
  })

  test('the value must exceed `max_ratio` × the median', () => {
    expect(log(baseline(200, week), baseline(201, week))).toEqual(['fired 1'])
  })

  test('the value must exceed the median by 5 median absolute deviations', () => {
    const noisy = [100, 10, 190, 40, 160, 70, 130] // median 100, MAD 60
    expect(log(baseline(400, noisy), baseline(401, noisy))).toEqual(['fired 1'])
  })

  test('the median of an even number of values is the mean of the two middle ones', () => {
    const even = [1, 1, 1, 100, 200, 300, 300, 300]
    // Median 150, deviations 50 50 149 149 149 150 150 150: MAD 149.
    expect(log(baseline(895, even), baseline(896, even))).toEqual(['fired 1'])
  })

  test('the value must be above the floor, with enough samples', () => {
    const low = [1, 1, 1, 1, 1, 1, 1]
    expect(log(baseline(50, low), baseline(51, low, 2), baseline(51, low))).toEqual(['fired 2'])
  })

  test('a partial sum fires when it already exceeds the baseline, a mean waits', () => {
    const late = { ...baseline(900, week), lag_ms: 10 * minute_ms }
    expect(log(late)).toEqual([])
    const sums = failureRule({
      condition: undefined,
      baseline: { signal: 'tokens', max_ratio: 2, floor: 50 },
    })
    expect(new Scenario(sums).next(late).log).toEqual(['fired 0'])
  })
})

describe('event rules', () => {
  const eventRule = (event: object = {}, more: object = {}) =>
    failureRule({
      condition: undefined,
      event: { match: { source: 'finding', kinds: ['loop'] }, ...event },
      ...more,
    })
  const stored = (...minutes: number[]): Sample => ({
    kind: 'event',
    matches: minutes.map((minute) => start_ms + minute * minute_ms),
    lag_ms: 0,
  })
  const three = { count: 3, within: '10m' }

  test('a single match opens at once', () => {
    expect(new Scenario(eventRule()).at(5, stored(5)).log).toEqual(['fired 5'])
  })

  test('`count` matches within a half-open window, by time stored', () => {
    const counted = new Scenario(eventRule(three)).at(0, stored(0)).at(5, stored(5))
    expect(counted.at(10, stored(10)).log).toEqual([])
    expect(counted.at(14, stored(14)).log).toEqual(['fired 14'])
    expect(new Scenario(eventRule(three)).at(9, stored(9, 0, 5)).log).toEqual(['fired 9'])
  })

  test('the count starts again after a resolve', () => {
    const rule = eventRule(three, { keep_firing_for: '2m' })
    const again = new Scenario(rule)
      .at(0, stored(0, 0, 0))
      .at(1, stored(1))
      .at(3, stored())
    expect(again.log).toEqual(['fired 0', 'ended 3'])
    again.at(4, stored(4, 4))
    expect(again.state?.phase).toBe('ok')
    expect(again.at(5, stored(5)).log).toEqual(['fired 0', 'ended 3', 'fired 5'])
  })

  test('the count starts again after a person resolved, and the rule is not quiet', () => {
    const one = new Scenario(eventRule(three)).at(0, stored(0, 0, 0))
    if (one.state !== null) one.state = afterResolve(one.rule, one.state, start_ms + minute_ms)
    expect(one.at(2, stored(2, 2)).log).toEqual(['fired 0'])
    expect(one.at(3, stored(3)).log).toEqual(['fired 0', 'fired 3'])
  })

  test('an event incident ends `keep_firing_for` after its last match, else by a person', () => {
    const kept = new Scenario(eventRule({}, { keep_firing_for: '5m' })).at(0, stored(0))
    kept.at(4, stored(4)).at(8, stored())
    expect(kept.at(9, stored()).log).toEqual(['fired 0', 'ended 9'])
    expect(new Scenario(eventRule()).at(0, stored(0)).at(9999, stored()).log).toEqual(['fired 0'])
  })

  test('the end does not depend on ticks between two matches', () => {
    const kept = new Scenario(eventRule({}, { keep_firing_for: '5m' })).at(0, stored(0))
    expect(kept.at(8, stored(8)).log).toEqual(['fired 0', 'ended 8', 'fired 8'])
  })

  test('matches that arrive out of order are kept in order', () => {
    const counted = new Scenario(eventRule({ count: 9, within: '1h' }))
    counted.at(7, stored(7)).at(7, stored(5, 6))
    expect(counted.state?.matches).toEqual([5, 6, 7].map((one) => start_ms + one * minute_ms))
  })

  test('a partial slot fires, and its end waits', () => {
    const kept = new Scenario(eventRule({}, { keep_firing_for: '5m' }))
    kept.at(0, { ...stored(0), lag_ms: 999_999 }).at(9, { ...stored(), lag_ms: 999_999 })
    expect(kept.log).toEqual(['fired 0'])
  })

  test('a group is kept while its matches count, and forgotten after that', () => {
    const rule = eventRule({ count: 3, within: '2d' })
    const counted = new Scenario(rule).at(0, stored(0)).at(2 * 1440 - 1, stored())
    expect(counted.state).not.toBeNull()
    expect(counted.at(2 * 1440, stored()).log).toEqual(['forgotten 2880'])
  })
})

function never(): never {
  throw new Error('a burn rate was expected')
}

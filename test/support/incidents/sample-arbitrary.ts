import fc from 'fast-check'
import type { Sample } from '../../../src/capabilities/incidents/evaluation/contract.ts'
import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import { effectiveTiersOf } from './slot-outcome.ts'

/** The side of the threshold on which most samples of a part of the history are. */
export type Mood = 'true' | 'false' | 'near' | 'missing'

/** Samples of any kind but `event`. */
export function samples(rule: Rule, mood: Mood, isPartial: boolean): fc.Arbitrary<Sample> {
  const lag_ms = lags(rule, isPartial)
  if (rule.burn_rate !== undefined) return burnRateSamples(rule, mood, lag_ms)
  const count = fc.oneof({ weight: 5, arbitrary: fc.constant(10) }, fc.integer({ min: 1, max: 4 }))
  const value = rule.baseline === undefined ? values(rule, mood) : baselineValues(mood)
  const measured = fc.record({ value, samples: count, lag_ms }).map((sample) => {
    return sample.value === null ? { ...sample, samples: 0 } : sample
  })
  if (rule.baseline === undefined) {
    return measured.map((sample) => ({ kind: 'condition' as const, ...sample }))
  }
  return fc.tuple(measured, histories).map(([sample, history]) => {
    return { kind: 'baseline' as const, ...sample, history }
  })
}

/** Lags on both sides of the delay of the rule and of its `longer_than`. */
function lags({ delay, condition }: Rule, isPartial: boolean): fc.Arbitrary<number> {
  const delay_ms = durationMs(delay)
  const longer = condition?.signal === 'ingest_lag' ? durationMs(condition.longer_than) : 0
  const all = [0, delay_ms, longer, longer + 1, delay_ms + 1, delay_ms + 500_000]
  return fc.constantFrom(...all.filter((lag_ms) => lag_ms > delay_ms === isPartial))
}

function values({ condition }: Rule, mood: Mood): fc.Arbitrary<number | null> {
  if (mood === 'missing') return fc.constant(null)
  const isMeasured = condition !== undefined && 'op' in condition
  const threshold = isMeasured ? Number(condition.threshold) : 0
  const isUpward = !isMeasured || condition.op.startsWith('g')
  const side = isUpward === (mood === 'true') ? 1 : -1
  const near = [-0.5, 0, 0.5].map((distance) => threshold + distance)
  return mood === 'near' ? fc.constantFrom(...near) : fc.constant(threshold + 3 * side)
}

function baselineValues(mood: Mood): fc.Arbitrary<number | null> {
  if (mood === 'missing') return fc.constant(null)
  if (mood === 'true') return fc.constantFrom(60, 100)
  return mood === 'false' ? fc.constantFrom(0, 10) : fc.constantFrom(15, 16, 20, 21, 25, 26)
}

const histories = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.integer({ min: 8, max: 12 }), bounds(7, 10)) },
  { weight: 1, arbitrary: fc.array(fc.integer({ min: 0, max: 20 }), bounds(0, 8)) },
)

function bounds(minLength: number, maxLength: number) {
  return { minLength, maxLength }
}

function burnRateSamples(
  rule: Rule,
  mood: Mood,
  lag_ms: fc.Arbitrary<number>,
): fc.Arbitrary<Sample> {
  const objective = rule.burn_rate?.objective ?? 0
  const tiers = effectiveTiersOf(rule).map(({ factor }) => {
    const limit = Math.round(1000 * factor * (1 - objective))
    const burning = fc.constantFrom(limit + 1, 1000)
    const calm = fc.constantFrom(0, limit - 1)
    const edge = fc.constantFrom(limit - 1, limit, limit + 1)
    const bad = mood === 'true' ? burning : mood === 'false' ? calm : edge
    const few = fc.constantFrom({ bad: 4, total: 4 }, { bad: 5, total: 5 }, { bad: 0, total: 0 })
    const usual = bad.map((count) => ({ bad: clamp(count), total: 1000 }))
    const window =
      mood === 'missing'
        ? fc.constant({ bad: 0, total: 0 })
        : fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: few })
    const is_filled = fc.oneof(
      { weight: 6, arbitrary: fc.constant(true) },
      { weight: 1, arbitrary: fc.constant(false) },
    )
    return fc.record({ long: window, short: window, is_filled })
  })
  return fc.record({ kind: fc.constant('burn_rate' as const), tiers: fc.tuple(...tiers), lag_ms })
}

function clamp(count: number): number {
  return Math.min(1000, Math.max(0, count))
}

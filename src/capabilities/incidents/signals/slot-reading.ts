import { durationMs } from '../../../kernel/duration.ts'
import type { Sample } from '../evaluation/contract.ts'
import type { MeasuredSlot } from '../ports.ts'
import { effectiveTiers } from '../rules/burn-tiers.ts'
import type { Signal } from '../rules/condition-kinds.ts'
import type { Rule } from '../rules/rule.ts'
import { type SignalReading, type SignalValue, signalReading, type Window } from './reading.ts'

/** Facts that a sample needs besides the values of its windows. */
export type SampleFacts = {
  lag_ms: number
  /** Start of the project's oldest stored row of the source; undefined without rows. */
  oldest_ms: number | undefined
}

/** The windows that a rule reads for a slot, and how their values become its sample. */
export type SlotReading = Pick<MeasuredSlot, 'rule' | 'end_ms' | 'known'> & {
  slot: MeasuredSlot
  /** Undefined if the signal has no rows to be read. */
  signal: SignalReading | undefined
  windows: readonly Window[]
  /** Values are in the order of `windows`; null without rows in any of them. */
  sample(values: readonly SignalValue[], facts: SampleFacts): Sample
}

const hour_ms = 3_600_000
const day_ms = 86_400_000

/** Days before the slot whose same hour a baseline compares with. */
const baseline_days = 28

/** Returns what a rule reads at the end of a slot; undefined for event rules. */
export function slotReading(slot: MeasuredSlot): SlotReading | undefined {
  const { rule } = slot
  if (rule.condition !== undefined) return conditionReading(slot, rule.condition)
  if (rule.burn_rate !== undefined) return burnReading(slot, rule.burn_rate.signal)
  if (rule.baseline !== undefined) return baselineReading(slot, rule.baseline)
  return undefined
}

function conditionReading(
  slot: MeasuredSlot,
  condition: NonNullable<Rule['condition']>,
): SlotReading {
  const kind = 'condition'
  if (condition.signal === 'ingest_lag') {
    const sample: SlotReading['sample'] = (_, { lag_ms }) => {
      return { kind, value: lag_ms, samples: 1, lag_ms }
    }
    return { slot, ...slot, signal: undefined, windows: [], sample }
  }
  const per = condition.signal === 'absent' ? undefined : condition.per
  return {
    slot,
    ...slot,
    signal: signalReading(condition.signal, per),
    windows: [windowOf(slot.end_ms, durationMs(condition.window))],
    sample: ([value], { lag_ms }) => {
      return { kind, value: value?.value ?? null, samples: value?.samples ?? 0, lag_ms }
    },
  }
}

function burnReading(slot: MeasuredSlot, signal: Signal): SlotReading {
  const tiers = effectiveTiers(slot.rule)
  const windowsOf = tiers.flatMap(({ long, short }) => [long, short])
  return {
    slot,
    ...slot,
    signal: signalReading(signal, undefined),
    windows: windowsOf.map((window) => windowOf(slot.end_ms, durationMs(window))),
    sample: (values, { lag_ms, oldest_ms = Number.POSITIVE_INFINITY }) => ({
      kind: 'burn_rate',
      lag_ms,
      tiers: tiers.map(({ long }, at) => ({
        long: badAndTotal(values[2 * at]),
        short: badAndTotal(values[2 * at + 1]),
        is_filled: oldest_ms <= slot.end_ms - durationMs(long),
      })),
    }),
  }
}

function badAndTotal(value: SignalValue | undefined) {
  return { bad: value?.bad ?? 0, total: value?.samples ?? 0 }
}

function baselineReading(
  slot: MeasuredSlot,
  { signal, per }: NonNullable<Rule['baseline']>,
): SlotReading {
  const ends = Array.from({ length: baseline_days + 1 }, (_, day) => slot.end_ms - day * day_ms)
  return {
    slot,
    ...slot,
    signal: signalReading(signal, per),
    windows: ends.map((end_ms) => windowOf(end_ms, hour_ms)),
    sample: ([value, ...earlier], { lag_ms }) => ({
      kind: 'baseline',
      value: value?.value ?? null,
      samples: value?.samples ?? 0,
      history: earlier.flatMap((one) => (one.value === null ? [] : [one.value])),
      lag_ms,
    }),
  }
}

function windowOf(end_ms: number, length_ms: number): Window {
  return { from_ms: end_ms - length_ms, to_ms: end_ms }
}

/**
 * Returns the sample of a group without rows. `oldest_ms` is the start of the oldest stored row of
 * the project: it decides which windows of a burn rate are filled.
 */
export function emptySample(rule: Rule, end_ms: number, facts: SampleFacts): Sample {
  const reading = slotReading({ rule_id: '', rule, end_ms })
  if (reading === undefined) return { kind: 'event', matches: [], lag_ms: facts.lag_ms }
  return reading.sample([], facts)
}

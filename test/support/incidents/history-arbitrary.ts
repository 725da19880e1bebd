import fc from 'fast-check'
import type { Sample } from '../../../src/capabilities/incidents/evaluation/contract.ts'
import type { Rule, RuleKind } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import type { Act } from './group-history.ts'
import { rules } from './rule-arbitrary.ts'
import { type Mood, samples } from './sample-arbitrary.ts'

/** A rule and the history of one of its groups. */
export type GroupHistory = { readonly rule: Rule; readonly acts: readonly Act[] }

/** Noon, 1 June 2026, UTC. */
const start_ms = Date.UTC(2026, 5, 1, 12)

/** Histories of groups of all kinds of rules, or of one kind. */
export function groupHistories(kind?: RuleKind): fc.Arbitrary<GroupHistory> {
  return rules(kind).chain((rule) => {
    const parts: fc.Arbitrary<readonly Part[]> = fc.array(partsOf(rule), {
      minLength: 1,
      maxLength: 14,
      size: 'max',
    })
    return fc.tuple(parts, forgetting(rule)).map(([script, forget_after_ms]) => {
      return { rule, acts: play(rule, script, forget_after_ms) }
    })
  })
}

/** One part of a history. Offsets of slots are counted in intervals from the next slot. */
type Part =
  /** Slots in order: evaluated, or lost between two evaluations. */
  | { type: 'slots'; samples: readonly Sample[]; is_open: boolean; evaluators: 1 | 2 }
  | { type: 'gap'; slots: number }
  /** Slots that are evaluated while the backlog is too old, and stay due. */
  | { type: 'partial'; samples: readonly Sample[]; from: number; is_open: boolean }
  /** The same, for the last time. */
  | { type: 'last'; sample: Sample; is_open: boolean }
  | { type: 'late'; samples: readonly { back: number; sample: Sample }[]; is_open: boolean }
  | { type: 'resolve'; after_ms: number }
  | { type: 'restart' }
  | {
      type: 'events'
      after_ms: number
      matches: readonly number[]
      lag_ms: number
      is_open: boolean
    }

function forgetting({ interval }: Rule): fc.Arbitrary<number> {
  const soon = 3 * durationMs(interval)
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(86_400_000) },
    { weight: 1, arbitrary: fc.constant(soon) },
  )
}

const moods = fc.constantFrom<Mood[]>('true', 'true', 'false', 'near', 'missing')

const lateMoods = fc.constantFrom<Mood[]>('true', 'true', 'true', 'false', 'near', 'missing')

function partsOf(rule: Rule): fc.Arbitrary<Part> {
  const is_open = fc.boolean()
  const moves = [
    fc.record({
      type: fc.constant('resolve' as const),
      after_ms: fc.constantFrom(0, 1000, 61_000),
    }),
    fc.constant({ type: 'restart' as const }),
  ]
  if (rule.event !== undefined) {
    const events = eventParts(is_open)
    return fc.oneof({ weight: 6, arbitrary: events }, ...moves)
  }
  const evaluators = fc.constantFrom<(1 | 2)[]>(1, 1, 1, 2)
  const several = (isPartial: boolean, maxLength: number) =>
    moods.chain((mood) => fc.array(samples(rule, mood, isPartial), { minLength: 1, maxLength }))
  const any = fc
    .tuple(lateMoods, fc.constantFrom(false, false, false, true))
    .chain(([mood, partial]) => samples(rule, mood, partial))
  const slots = fc.record({
    ...{ type: fc.constant('slots' as const), samples: several(false, 7), is_open, evaluators },
  })
  const gap = fc.record({
    type: fc.constant('gap' as const),
    slots: fc.integer({ min: 1, max: 4 }),
  })
  const partial = fc.record({
    ...{ type: fc.constant('partial' as const), samples: several(true, 4), is_open },
    from: fc.constantFrom(0, 0, 0, 1, 2),
  })
  const last = fc.record({
    ...{ type: fc.constant('last' as const), is_open },
    sample: moods.chain((mood) => samples(rule, mood, true)),
  })
  const late = fc.record({
    ...{ type: fc.constant('late' as const), is_open },
    samples: fc.uniqueArray(fc.record({ back: fc.integer({ min: 1, max: 7 }), sample: any }), {
      ...{ minLength: 1, maxLength: 5, selector: ({ back }) => back },
    }),
  })
  return fc.oneof(
    { weight: 5, arbitrary: slots },
    gap,
    partial,
    partial,
    last,
    late,
    late,
    ...moves,
  )
}

function eventParts(is_open: fc.Arbitrary<boolean>): fc.Arbitrary<Part> {
  const before = fc.constantFrom(0, 0, 0, 0, 10_000, 40_000)
  return fc.record({
    ...{ type: fc.constant('events' as const), is_open },
    after_ms: fc.constantFrom(0, 10_000, 10_000, 20_000, 30_000, 60_000, 120_000, 400_000),
    matches: fc.array(before, { maxLength: 3 }),
    lag_ms: fc.constantFrom(0, 0, 0, 60_000, 60_001),
  })
}

/** Turns a script into acts: time passes, slots advance only when they are settled. */
function play(rule: Rule, script: readonly Part[], forget_after_ms: number): Act[] {
  const interval_ms = durationMs(rule.interval)
  let next_ms = start_ms
  return script.flatMap((part) => {
    if (part.type === 'events') next_ms += part.after_ms
    const acts = actsOf(part, { next_ms, interval_ms, forget_after_ms })
    next_ms += settledSlots(part) * interval_ms
    return acts
  })
}

function settledSlots(part: Part): number {
  if (part.type === 'slots') return part.samples.length
  if (part.type === 'gap') return part.slots
  return part.type === 'last' ? 1 : 0
}

type Moment = {
  readonly next_ms: number
  readonly interval_ms: number
  readonly forget_after_ms: number
}

function actsOf(part: Part, { next_ms, interval_ms, forget_after_ms }: Moment): Act[] {
  if (part.type === 'gap') return []
  if (part.type === 'restart') return [part]
  if (part.type === 'resolve') {
    return [{ type: 'resolve', at_ms: next_ms - interval_ms + part.after_ms }]
  }
  const evaluators = part.type === 'slots' ? part.evaluators : 1
  return measurements(part, next_ms).map(({ offset, sample }) => {
    const slot = {
      end_ms: next_ms + offset * interval_ms,
      pass: part.type === 'late' ? ('late' as const) : ('first' as const),
      is_last_attempt: part.type === 'last',
      has_open_incident: part.is_open,
      forget_after_ms,
    }
    return { type: 'slot', sample, slot, evaluators }
  })
}

type Measured = Exclude<Part, { type: 'gap' | 'restart' | 'resolve' }>

/** Returns the samples of a part, with the offset of their slots from the next slot. */
function measurements(part: Measured, next_ms: number): { offset: number; sample: Sample }[] {
  switch (part.type) {
    case 'slots':
      return part.samples.map((sample, offset) => ({ offset, sample }))
    case 'partial':
      return part.samples.map((sample, index) => ({ offset: part.from + index, sample }))
    case 'last':
      return [{ offset: 0, sample: part.sample }]
    case 'late': {
      const oldestFirst = part.samples.toSorted((a, b) => b.back - a.back)
      return oldestFirst.map(({ back, sample }) => ({ offset: -back, sample }))
    }
    case 'events': {
      const matches = part.matches.map((before_ms) => next_ms - before_ms)
      return [{ offset: 0, sample: { kind: 'event', matches, lag_ms: part.lag_ms } }]
    }
  }
}

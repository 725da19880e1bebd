import type { Sample, Transition } from '../../../src/capabilities/incidents/evaluation/contract.ts'
import { type Rule, ruleShape } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import type { Act, Answer } from './group-history.ts'
import { parseSeries } from './series.ts'

/** A history that defines one sentence of the design. Slots are numbered from 0. */
export type Example = {
  /** The sentence of the design, or of the contract. */
  readonly sentence: string
  /** Fields of the rule. Without a kind: a cost above $5. */
  readonly rule?: Readonly<Record<string, unknown>>
  /** One series in promtool's notation: values, or the number of matches of an event rule. */
  readonly series?: string
  /** Number of samples in each slot, 10 by default. */
  readonly samples?: string
  /** Lag in seconds, in each slot. */
  readonly lag_s?: string
  /** Values of the same hour of other days, for a baseline. */
  readonly history?: readonly number[]
  /** Percentages of bad items for each tier of a burn rate; `filled` is 1 or 0. */
  readonly tiers?: readonly { long: string; short: string; filled?: string }[]
  /** Slots that are never evaluated. */
  readonly gap?: readonly number[]
  /** Moves and further evaluations after a slot; for a burn rate, `value` is of all windows. */
  readonly also?: readonly Also[]
  readonly forget_after?: string
  /** True if the incident stays open after firing ended. */
  readonly is_open?: true
  /** Phase after each slot: `o`k, `p`ending, `f`iring, `q`uiet, `-` for no evaluation or state. */
  readonly phases: string
  /** Transitions as `type@slot`, with ` late` or the severity where these differ from the rule. */
  readonly transitions: readonly string[]
}

/** A person resolves, or a slot is evaluated out of the usual order. */
type Also = { readonly after: number } & (
  | { readonly resolve: true }
  | { readonly restart: true }
  | { readonly late: number; readonly value: number | null; readonly lag_s?: number }
  | { readonly partial: number; readonly value: number | null; readonly lag_s?: number }
  | { readonly last: number; readonly value: number | null; readonly lag_s?: number }
)

/** The acts of an example; `slot` is the number of the slot in or after which one happens. */
export type ExampleHistory = {
  readonly rule: Rule
  readonly acts: readonly Act[]
  readonly slots: readonly number[]
}

/** End of slot 0: noon, 1 June 2026, UTC. */
const slotZeroMs = Date.UTC(2026, 5, 1, 12)

/** Returns the rule and the acts of an example. */
export function readExample(example: Example): ExampleHistory {
  const rule = readRule(example)
  const acts: Act[] = []
  const slots: number[] = []
  for (let slot = 0; slot < lengthOf(example); slot += 1) {
    const own = sampleAt(example, rule, slot)
    const isGap = example.gap?.includes(slot) ?? false
    const usual = isGap ? [] : [slotAct(example, rule, { slot, sample: own })]
    const also = (example.also ?? []).filter(({ after }) => after === slot)
    const all = [...usual, ...also.map((entry) => actOf(example, rule, entry))]
    acts.push(...all)
    slots.push(...all.map(() => slot))
  }
  return { rule, acts, slots }
}

function readRule({ rule = {} }: Example): Rule {
  const kinds = ['condition', 'burn_rate', 'baseline', 'event']
  const condition = { signal: 'cost', window: '10m', threshold: 5 }
  const kind = kinds.some((name) => name in rule) ? {} : { condition }
  return ruleShape.parse({ name: 'rule', severity: 'high', ...kind, ...rule })
}

function lengthOf({ series, tiers }: Example): number {
  return parseSeries(series ?? tiers?.[0]?.long ?? '_').length
}

function sampleAt(example: Example, rule: Rule, slot: number): Sample {
  const lag_ms = 1000 * (read(example.lag_s, slot) ?? 0)
  if (example.tiers !== undefined) {
    const tiers = example.tiers.map(({ long, short, filled }) => ({
      long: shareOf(read(long, slot)),
      short: shareOf(read(short, slot)),
      is_filled: read(filled, slot) !== 0,
    }))
    return { kind: 'burn_rate', tiers, lag_ms }
  }
  const value = read(example.series, slot) ?? null
  return sampleOf(example, rule, { value, lag_ms, slot })
}

type Measured = { readonly value: number | null; readonly lag_ms: number; readonly slot: number }

function sampleOf(example: Example, rule: Rule, { value, lag_ms, slot }: Measured): Sample {
  if (rule.event !== undefined) {
    const matches = new Array<number>(value ?? 0).fill(endOf(rule, slot))
    return { kind: 'event', matches, lag_ms }
  }
  if (example.tiers !== undefined) {
    const window = shareOf(value ?? undefined)
    const tiers = example.tiers.map(() => ({ long: window, short: window, is_filled: true }))
    return { kind: 'burn_rate', tiers, lag_ms }
  }
  const samples = value === null ? 0 : (read(example.samples, slot) ?? 10)
  if (rule.baseline === undefined) return { kind: 'condition', value, samples, lag_ms }
  return { kind: 'baseline', value, samples, lag_ms, history: example.history ?? [] }
}

function read(series: string | undefined, slot: number): number | undefined {
  return series === undefined ? undefined : parseSeries(series)[slot]
}

function shareOf(percent: number | undefined) {
  return percent === undefined ? { bad: 0, total: 0 } : { bad: percent, total: 100 }
}

function endOf(rule: Rule, slot: number): number {
  return slotZeroMs + slot * durationMs(rule.interval)
}

type Evaluation = { readonly slot: number; readonly sample: Sample; readonly mode?: string }

function slotAct(example: Example, rule: Rule, { slot, sample, mode }: Evaluation): Act {
  return {
    type: 'slot',
    sample,
    slot: {
      end_ms: endOf(rule, slot),
      pass: mode === 'late' ? 'late' : 'first',
      is_last_attempt: mode === 'last',
      has_open_incident: example.is_open ?? example.phases[slot - 1] === 'f',
      forget_after_ms: durationMs(example.forget_after ?? '24h'),
    },
    evaluators: 1,
  }
}

function actOf(example: Example, rule: Rule, also: Also): Act {
  if ('restart' in also) return { type: 'restart' }
  if ('resolve' in also) return { type: 'resolve', at_ms: endOf(rule, also.after) + 1000 }
  const [mode, slot] =
    'late' in also
      ? ['late', also.late]
      : 'partial' in also
        ? ['partial', also.partial]
        : ['last', also.last]
  const lag_ms = 1000 * (also.lag_s ?? (mode === 'late' ? 0 : 600))
  const sample = sampleOf(example, rule, { value: also.value, lag_ms, slot })
  return slotAct(example, rule, { slot, sample, mode })
}

/** Returns the phases and the transitions of answers as examples write them. */
export function describeAnswers(
  { phases, gap = [] }: Example,
  { rule, slots }: ExampleHistory,
  answers: readonly Answer[],
) {
  const letters = [...phases].map((_, slot) => {
    const answer = answers[slots.lastIndexOf(slot)]
    return gap.includes(slot) ? '-' : (answer?.state?.phase[0] ?? '-')
  })
  const transitions = answers.flatMap((answer) => answer.transitions)
  return { phases: letters.join(''), transitions: transitions.map((one) => nameOf(rule, one)) }
}

function nameOf(rule: Rule, transition: Transition): string {
  const slot = (transition.slot_ms - slotZeroMs) / durationMs(rule.interval)
  const name = `${transition.type}@${slot}`
  if (transition.type === 'ended' || transition.type === 'forgotten') return name
  const { tier, severity } = transition
  const late = transition.type === 'fired' && transition.late ? ' late' : ''
  return tier === null ? `${name}${late}` : `${name}:${severity}:${tier}${late}`
}

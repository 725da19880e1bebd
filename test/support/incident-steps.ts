import type {
  GroupState,
  Sample,
  Slot,
  Transition,
} from '../../src/capabilities/incidents/evaluation/contract.ts'
import { step } from '../../src/capabilities/incidents/evaluation/step.ts'
import { ruleShape } from '../../src/capabilities/incidents/rules/rule.ts'

/** The end of the first slot of a scenario. */
export const start_ms = Date.UTC(2026, 0, 5, 12)
export const minute_ms = 60_000
const hour_ms = 60 * minute_ms

/** A rule that fires while more than 3 failures are in the window, evaluated each minute. */
export function failureRule(more: object = {}) {
  return ruleShape.parse({
    name: 'failures',
    severity: 'high',
    condition: { signal: 'failure_count', window: '5m', threshold: 3 },
    ...more,
  })
}

type Rule = ReturnType<typeof failureRule>

/** The sample of a condition: a number, or null without data. */
export function valueSample(value: number | null, more: Partial<Sample> = {}): Sample {
  const samples = value === null ? 0 : 100
  return { kind: 'condition', value, samples, lag_ms: 0, ...more } as Sample
}

/** One rule and one group, and the minutes that passed. */
export class Scenario {
  readonly rule: Rule
  state: GroupState | null = null
  readonly transitions: Transition[] = []
  minute = 0
  has_open_incident = false

  constructor(rule: Rule) {
    this.rule = rule
  }

  /** Evaluates the next slots: one for each sample, a minute apart. */
  next(...samples: (Sample | number | null)[]): this {
    for (const sample of samples) {
      this.at(
        this.minute,
        typeof sample === 'object' && sample !== null ? sample : valueSample(sample),
      )
      this.minute += 1
    }
    return this
  }

  /** Evaluates the slot of a minute. */
  at(minute: number, sample: Sample, more: Partial<Slot> = {}): this {
    const { state, transitions } = step(this.rule, this.state, sample, {
      end_ms: start_ms + minute * minute_ms,
      pass: 'first',
      is_last_attempt: false,
      has_open_incident: this.has_open_incident,
      forget_after_ms: 24 * hour_ms,
      ...more,
    })
    this.state = state
    this.transitions.push(...transitions)
    return this
  }

  /** Evaluates a slot again, with rows that arrived late. */
  late(minute: number, sample: Sample | number | null): this {
    const late = typeof sample === 'object' && sample !== null ? sample : valueSample(sample)
    return this.at(minute, late, { pass: 'late' })
  }

  /** Lets minutes pass without an evaluation. */
  miss(minutes: number): this {
    this.minute += minutes
    return this
  }

  /** The transitions as `fired 3`: the type and the minute of the slot. */
  get log(): string[] {
    return this.transitions.map((one) => {
      const minute = (one.slot_ms - start_ms) / minute_ms
      const isLate = one.type === 'fired' && one.late
      return `${one.type}${isLate ? ' late' : ''} ${minute}`
    })
  }
}

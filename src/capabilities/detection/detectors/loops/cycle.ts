import { z } from 'zod'
import type { Detector, FindingDraft, Severity } from '../../contract.ts'
import {
  asksForRepetition,
  isPollingLap,
  listToolNames,
  pollingSettings,
  remember,
  type StepFacts,
  stretchesOf,
  toCallEvidence,
  toLoopDraft,
  toPlainText,
} from '../../facts/index.ts'
import type { Step, TaskRun } from '../../reconstruction/index.ts'

const source =
  'Source: alternating patterns of OpenHands, longer ones measured in 800 labelled runs.'

const settings = z.strictObject({
  period_max: z
    .int()
    .min(2)
    .max(20)
    .default(6)
    .describe(`The longest pattern, in steps. ${source}`),
  laps: z
    .int()
    .min(2)
    .max(100)
    .default(3)
    .describe(`Equal laps in a row from which on it is a loop. ${source}`),
  failing_laps: z
    .int()
    .min(2)
    .max(100)
    .default(2)
    .describe(`The same where something fails in every lap. ${source}`),
  high_laps: z
    .int()
    .min(2)
    .max(100)
    .default(5)
    .describe(`Laps from which on it is high. ${source}`),
  ...pollingSettings,
})
type Settings = z.output<typeof settings>

/** Finds a few steps that repeat in the same order with the same results. */
export const cycle: Detector<typeof settings> = {
  name: 'cycle',
  kind: 'loop',
  types: ['cycle'],
  version: 1,
  needs: ['arguments', 'results'],
  settings,
  detect(run, set, budget) {
    return stretchesOf(run).flatMap((stretch) => {
      budget.spend(stretch.length * set.period_max)
      return cyclesOf(stretch, set).flatMap((lap) => toFinding(run, lap, set) ?? [])
    })
  },
}

type Cycle = { steps: readonly StepFacts[]; period: number }

/** Returns maximal repeating stretches; of overlapping ones the one with the shortest pattern. */
function cyclesOf(
  stretch: readonly StepFacts[],
  { period_max, failing_laps, laps }: Settings,
): Cycle[] {
  const keys = stretch.map(keyOf)
  const taken = new Set<number>()
  const cycles: Cycle[] = []
  for (let period = 2; period <= Math.min(period_max, stretch.length / 2); period++) {
    for (const { start, end } of repeatingSpans(keys, period)) {
      const isLong = end - start >= period * Math.min(failing_laps, laps)
      if (!isLong || taken.has(start) || taken.has(end - 1)) continue
      if (!isPattern(keys.slice(start, start + period))) continue
      for (let at = start; at < end; at++) taken.add(at)
      cycles.push({ steps: stretch.slice(start, end), period })
    }
  }
  return cycles
}

/**
 * Returns the spans in which each key equals the key `period` positions earlier, including the
 * first period.
 */
function repeatingSpans(keys: readonly (string | null)[], period: number) {
  const spans: { start: number; end: number }[] = []
  let start: number | undefined
  for (let at = period; at <= keys.length; at++) {
    const key = keys[at]
    const isEqual = key != null && key === keys[at - period]
    if (isEqual) start ??= at - period
    else if (start !== undefined) {
      spans.push({ start, end: at })
      start = undefined
    }
  }
  return spans
}

/** Tells whether the steps of a pattern differ; equal consecutive steps are another loop. */
function isPattern(lap: readonly (string | null)[]): boolean {
  return lap.some((key) => key !== lap[0]) && lap.some((key) => key?.startsWith('call '))
}

function keyOf({ step, out, fault }: StepFacts): string | null {
  if (step.tools.length === 0) return step.text === null ? null : `text ${plainTextOf(step)}`
  return step.sig === null || out === null || fault === 'outage' ? null : `call ${step.sig} ${out}`
}

const plainTextOf = remember((step: Step) => toPlainText(step.text ?? ''))

function toFinding(
  run: TaskRun,
  { steps, period }: Cycle,
  set: Settings,
): FindingDraft | undefined {
  const laps = Math.floor(steps.length / period)
  const whole = steps.slice(0, laps * period)
  const lap = whole.slice(0, period)
  const is_polling = isPollingLap(run, { lap, steps: whole }, set.polling_gap_ms)
  const isFailing = lap.some(({ fault }) => fault === 'error')
  const threshold = is_polling ? set.polling_warn_repeats : isFailing ? set.failing_laps : set.laps
  if (laps < threshold) return undefined
  const uses = lap.flatMap((facts) => facts.uses)
  return toLoopDraft(run, {
    type: 'cycle',
    severity: asksForRepetition(run, lap[0]) ? 'low' : severityOf(laps, is_polling, set),
    summary: `The same ${period} steps (${listToolNames(uses)}) came ${laps} times in a row with the same results.`,
    steps: whole,
    fresh: period,
    period,
    repeats: laps,
    threshold,
    evidence: { calls: toCallEvidence(uses), polling: is_polling, failing: isFailing },
  })
}

function severityOf(laps: number, is_polling: boolean, set: Settings): Severity {
  if (is_polling) return laps >= set.polling_loop_repeats ? 'medium' : 'low'
  return laps >= set.high_laps ? 'high' : 'medium'
}

import { z } from 'zod'
import type { Detector, FindingDraft, Severity } from '../../contract.ts'
import {
  asksForRepetition,
  isPollingIteration,
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
  'Source: alternating patterns of OpenHands; longer ones measured in 800 labelled runs.'

const settings = z.strictObject({
  period_max: z
    .int()
    .min(2)
    .max(20)
    .default(6)
    .describe(`Maximum length of the pattern in steps. ${source}`),
  laps: z
    .int()
    .min(2)
    .max(100)
    .default(3)
    .describe(`Minimum equal iterations in a row for a loop. ${source}`),
  failing_laps: z
    .int()
    .min(2)
    .max(100)
    .default(2)
    .describe(`Minimum iterations if something fails in each of them. ${source}`),
  high_laps: z
    .int()
    .min(2)
    .max(100)
    .default(5)
    .describe(`Minimum iterations for high severity. ${source}`),
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
      return cyclesOf(stretch, set).flatMap((found) => toFinding(run, found, set) ?? [])
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
    for (const { start, end } of findRepeatingSpans(keys, period)) {
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
function findRepeatingSpans(keys: readonly (string | null)[], period: number) {
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
function isPattern(steps: readonly (string | null)[]): boolean {
  return steps.some((key) => key !== steps[0]) && steps.some((key) => key?.startsWith('call '))
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
  const iterations = Math.floor(steps.length / period)
  const whole = steps.slice(0, iterations * period)
  const iteration = whole.slice(0, period)
  const is_polling = isPollingIteration(run, { iteration, steps: whole }, set.polling_gap_ms)
  const isFailing = iteration.some(({ fault }) => fault === 'error')
  const threshold = is_polling ? set.polling_warn_repeats : isFailing ? set.failing_laps : set.laps
  if (iterations < threshold) return undefined
  const uses = iteration.flatMap((facts) => facts.uses)
  return toLoopDraft(run, {
    type: 'cycle',
    severity: asksForRepetition(run, iteration[0])
      ? 'low'
      : severityOf(iterations, is_polling, set),
    summary: `The same ${period} steps (${listToolNames(uses)}) came ${iterations} times in a row with the same results.`,
    steps: whole,
    fresh: period,
    period,
    repeats: iterations,
    threshold,
    evidence: { calls: toCallEvidence(uses), polling: is_polling, failing: isFailing },
  })
}

function severityOf(iterations: number, is_polling: boolean, set: Settings): Severity {
  if (is_polling) return iterations >= set.polling_loop_repeats ? 'medium' : 'low'
  return iterations >= set.high_laps ? 'high' : 'medium'
}

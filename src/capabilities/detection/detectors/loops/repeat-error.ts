import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  cutText,
  isPaced,
  listToolNames,
  pollingSettings,
  type StepFacts,
  stretchesOf,
  toCallEvidence,
  toLoopDraft,
} from '../../facts/index.ts'
import type { TaskRun } from '../../reconstruction/index.ts'

const source = 'Source: OpenHands stops an agent at the third equal failing call.'

const settings = z.strictObject({
  repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(3)
    .describe(`Minimum equal failing calls in a row for a loop. ${source}`),
  high_repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(5)
    .describe(`Minimum for high severity. ${source}`),
  ...pollingSettings,
})
type Settings = z.output<typeof settings>

/** Finds the same calls failing in a row, with any error text. Outages are not counted. */
export const repeatError: Detector<typeof settings> = {
  name: 'repeat_error',
  kind: 'loop',
  types: ['repeat_error'],
  version: 1,
  needs: ['arguments', 'tool_outcomes'],
  settings,
  detect(run, set, budget) {
    return stretchesOf(run).flatMap((stretch) => {
      budget.spend(stretch.length)
      return rowsOf(stretch).flatMap((steps) => toFinding(run, steps, set) ?? [])
    })
  },
}

function rowsOf(stretch: readonly StepFacts[]): StepFacts[][] {
  const rows: StepFacts[][] = []
  let row: StepFacts[] = []
  for (const facts of stretch) {
    const isOn = facts.fault === 'error' && facts.step.sig === row[0]?.step.sig
    if (!isOn) {
      row = []
      rows.push(row)
    }
    if (facts.fault === 'error' && facts.step.sig !== null) row.push(facts)
  }
  return rows.filter(({ length }) => length > 1)
}

function toFinding(
  run: TaskRun,
  steps: readonly StepFacts[],
  set: Settings,
): FindingDraft | undefined {
  const repeats = steps.length
  const is_polling = isPaced(run, steps, set.polling_gap_ms)
  const threshold = is_polling ? set.polling_warn_repeats : set.repeats
  if (repeats < threshold) return undefined
  const uses = steps[0]?.uses ?? []
  const isLoop = !is_polling || repeats >= set.polling_loop_repeats
  const high = repeats >= set.high_repeats && !is_polling
  const error = steps.at(-1)?.uses[0]?.result
  return toLoopDraft(run, {
    type: 'repeat_error',
    severity: high ? 'high' : isLoop ? 'medium' : 'low',
    summary: `${listToolNames(uses)} failed ${repeats} times in a row with the same arguments.`,
    steps,
    fresh: 1,
    period: 1,
    repeats,
    threshold,
    evidence: {
      calls: toCallEvidence(uses),
      last_error: error == null ? null : cutText(error),
      polling: is_polling,
    },
  })
}

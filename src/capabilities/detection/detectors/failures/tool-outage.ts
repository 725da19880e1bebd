import { z } from 'zod'
import type { Detector, FindingDraft, Severity } from '../../contract.ts'
import {
  countTimes,
  cutText,
  findTroubles,
  limitGuess,
  placesOfUses,
  reportOfFailure,
  type ToolTrouble,
  toFailureDraft,
  wasteOfSteps,
} from '../../facts/index.ts'
import type { TaskRun } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  streak: z
    .int()
    .min(2)
    .max(100)
    .default(3)
    .describe(
      'Minimum outages of a tool in a row to report it even if it recovered. 3: retries handle ' +
        'fewer.',
    ),
})

/**
 * Finds tools that were down: rate limits, server errors, time-outs, failed connections. Reported
 * if the tool stayed down or was down for a streak.
 */
export const toolOutage: Detector<typeof settings> = {
  name: 'tool_outage',
  kind: 'failure',
  types: ['tool_outage'],
  version: 3,
  needs: ['tool_outcomes'],
  settings,
  detect(run, { streak }, budget) {
    return findTroubles(run, 'outage', (units) => budget.spend(units))
      .filter(({ uses, isOver, isAtRest }) => uses.length >= streak || (isAtRest && !isOver))
      .map((trouble) => toFinding(run, trouble, streak))
  },
}

const result_chars_max = 120

function toFinding(run: TaskRun, trouble: ToolTrouble, streak: number): FindingDraft {
  const { tool, uses, start_step, end_step, isOver } = trouble
  const steps = uses.flatMap(({ step }) => step ?? [])
  const places = placesOfUses(uses)
  const result = uses.at(-1)?.result ?? ''
  const said = result === '' ? '' : ` (“${cutText(result, result_chars_max)}”)`
  const end = isOver ? 'the task got over it' : 'it did not come back'
  return toFailureDraft({
    type: 'tool_outage',
    severity: limitGuess(weigh(run, trouble, streak), uses),
    recovered: isOver,
    began: places[0] ?? { trace_id: '', observation_id: '' },
    topic: tool,
    summary: `The tool “${tool}” was down ${countTimes(uses.length)}${said}; ${end}.`,
    start_step,
    end_step,
    places,
    repeats: uses.length,
    waste: wasteOfSteps(run, steps),
    evidence: { tool, outages: uses.length, result: cutText(result) },
  })
}

/** Weighs an outage; a person who heard of it with its reason, or who went on, can come back later. */
function weigh(run: TaskRun, { uses }: ToolTrouble, streak: number): Severity {
  if (uses.length >= streak) return 'high'
  const report = reportOfFailure(run, uses.at(-1))
  return report === 'accepted' || report === 'explained' ? 'low' : 'medium'
}

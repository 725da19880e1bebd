import { z } from 'zod'
import type { Detector, FindingDraft, Severity } from '../../contract.ts'
import {
  countTimes,
  cutText,
  findTroubles,
  limitGuess,
  natureOfTool,
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
      'Minimum errors of a tool in a row to report it while the agent still tries. 10 to 21 % of ' +
        'passing runs have one error.',
    ),
  streak_shell: z
    .int()
    .min(2)
    .max(100)
    .default(5)
    .describe('Minimum for shells, whose commands often fail during exploration.'),
})
type Settings = z.output<typeof settings>

/**
 * Finds tools whose errors the task did not recover from: the agent gave up after an error, or
 * keeps failing. A single recovered error is not reported.
 */
export const toolFailure: Detector<typeof settings> = {
  name: 'tool_failure',
  kind: 'failure',
  types: ['tool_failure'],
  version: 3,
  needs: ['tool_outcomes'],
  settings,
  detect(run, given, budget) {
    return findTroubles(run, 'error', (units) => budget.spend(units)).flatMap((trouble) => {
      const weight = weightOf(run, trouble, given)
      return weight === null ? [] : [toFinding(run, trouble, weight)]
    })
  },
}

type Weight = { severity: Severity; recovered: boolean }

function weightOf(run: TaskRun, trouble: ToolTrouble, given: Settings): Weight | null {
  const { isEffect, isShell } = natureOfTool(trouble.tool)
  const isStreak = trouble.uses.length >= (isShell ? given.streak_shell : given.streak)
  if (trouble.isOver) return weightOfPassed(run, trouble, { isEffect, isStreak })
  if (isStreak) return { severity: 'high', recovered: false }
  if (!trouble.isAtRest) return null
  if (run.state === 'failed') return { severity: 'high', recovered: false }
  const isSerious = isEffect || (trouble.uses.length > 1 && !isShell)
  const severity = isSerious && !isThereAlready(trouble) ? 'medium' : 'low'
  return { severity: easeForReport(run, trouble, severity), recovered: false }
}

/** A person who knows that a tool refused can decide: it is their task, and not a fault of the run. */
function easeForReport(run: TaskRun, { uses }: ToolTrouble, severity: Severity): Severity {
  const report = reportOfFailure(run, uses.at(-1))
  if (report === 'accepted') return 'info'
  return report === 'explained' ? 'low' : severity
}

type FailureFacts = { isEffect: boolean; isStreak: boolean }

/** Weighs a failure that the task got past; a change that was never made stays open. */
function weightOfPassed(
  run: TaskRun,
  trouble: ToolTrouble,
  { isEffect, isStreak }: FailureFacts,
): Weight | null {
  const { isFixed, isAtRest } = trouble
  if (isStreak) return { severity: 'medium', recovered: true }
  if (!isEffect || isFixed || !isAtRest) return null
  if (run.state === 'failed') return { severity: 'medium', recovered: false }
  return { severity: easeForReport(run, trouble, 'low'), recovered: false }
}

/** Tells whether the last result says that the wanted state already exists. */
function isThereAlready({ uses }: ToolTrouble): boolean {
  return /already|exists/i.test((uses.at(-1)?.result ?? '').slice(0, resultHeadChars))
}

const resultHeadChars = 500
const result_chars_max = 120

function toFinding(
  run: TaskRun,
  trouble: ToolTrouble,
  { severity, recovered }: Weight,
): FindingDraft {
  const { tool, uses, start_step, end_step } = trouble
  const steps = uses.flatMap(({ step }) => step ?? [])
  const places = placesOfUses(uses)
  const last = uses.at(-1)
  const result = last?.result ?? ''
  const said = result === '' ? '' : ` (“${cutText(result, result_chars_max)}”)`
  const end = recovered ? 'the task got over it' : 'it was not resolved'
  return toFailureDraft({
    type: 'tool_failure',
    severity: limitGuess(severity, uses),
    recovered,
    began: places[0] ?? { trace_id: '', observation_id: '' },
    topic: tool,
    summary: `The tool “${tool}” failed ${countTimes(uses.length)}${said}; ${end}.`,
    start_step,
    end_step,
    places,
    repeats: uses.length,
    waste: wasteOfSteps(run, steps),
    evidence: {
      tool,
      errors: uses.length,
      arguments: cutText(last?.arguments ?? ''),
      result: cutText(result),
    },
  })
}

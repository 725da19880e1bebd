import { z } from 'zod'
import { findRefusal } from '../../../provenance/text/index.ts'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  callOf,
  createCourse,
  cutText,
  hasSucceeded,
  placesOfSteps,
  type RunCourse,
  remember,
  toFailureDraft,
  turnsOf,
  wasteOfSteps,
} from '../../facts/index.ts'
import type { Step, TaskRun } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  text_chars_max: z
    .int()
    .min(50)
    .max(10_000)
    .default(600)
    .describe(
      'Maximum characters of a refusal; longer answers that start like one give reasons and help. ' +
        'Refusals marked by the provider count at any length.',
    ),
})

/**
 * Finds answers that refuse the request: marked by the provider (`refusal`), or recognised by their
 * words. Words alone are low severity, because an agent may refuse for a good reason.
 */
export const refusal: Detector<typeof settings> = {
  name: 'refusal',
  kind: 'failure',
  types: ['refusal'],
  version: 1,
  needs: ['texts'],
  settings,
  detect(run, { text_chars_max }, budget) {
    const course = createCourse(run, (call) => {
      const step = run.steps[call.step ?? -1]
      return (
        hasSucceeded(call) && step !== undefined && refusalOf(step, text_chars_max) === undefined
      )
    })
    return run.threads.flatMap((thread) =>
      turnsOf(run, thread).flatMap((turn) => {
        budget.spend(turn.length)
        const last = turn.at(-1)
        const refused = last && refusalOf(last, text_chars_max)
        return last && refused ? [toFinding({ run, course }, last, refused)] : []
      }),
    )
  },
}

type Refused = { text: string; isMarked: boolean }

function refusalOf(step: Step, text_chars_max: number): Refused | undefined {
  if (step.tools.length > 0) return undefined
  if (step.refusal) return { text: step.refusal, isMarked: true }
  const { text } = step
  if (text === null || text.length > text_chars_max) return undefined
  return refusalOfStep(step) === undefined ? undefined : { text, isMarked: false }
}

const refusalOfStep = remember(({ text }: Step) => findRefusal(text ?? ''))

function toFinding(
  { run, course }: { run: TaskRun; course: RunCourse },
  step: Step,
  { text, isMarked }: Refused,
): FindingDraft {
  const call = callOf(run, step)
  const recovered = call !== undefined && course.recoversAfter(call)
  const [place] = placesOfSteps(run, [step.index])
  return toFailureDraft({
    type: 'refusal',
    severity: isMarked || run.state === 'failed' ? 'medium' : 'low',
    recovered,
    began: place ?? { trace_id: '', observation_id: `${step.index}` },
    summary: `The model refused what was asked: “${cutText(text, quote_chars_max)}”.`,
    start_step: step.index,
    end_step: step.index,
    places: place === undefined ? [] : [place],
    waste: wasteOfSteps(run, recovered ? [] : [step.index]),
    confidence: isMarked ? 1 : 0.7,
    evidence: { text: cutText(text), marked_by_provider: isMarked },
  })
}

const quote_chars_max = 120

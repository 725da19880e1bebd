import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  callOf,
  countTimes,
  createCourse,
  hasSucceeded,
  natureOfTool,
  placesOfSteps,
  streaksOf,
  toFailureDraft,
  wasteOfSteps,
} from '../../facts/index.ts'
import type { Step, TaskRun, Thread } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds answers with neither text nor tool calls that nothing cut off. An empty answer directly
 * after a tool that delivers the result (`submit`, `finish`) is a normal end of some models.
 */
export const emptyCompletion: Detector<typeof settings> = {
  name: 'empty_completion',
  kind: 'failure',
  types: ['empty_completion'],
  version: 1,
  needs: [],
  settings,
  detect(run, _settings, budget) {
    const course = createCourse(run, (call) => {
      const step = run.steps[call.step ?? -1]
      return hasSucceeded(call) && step !== undefined && !isEmpty(run, step)
    })
    return run.threads.flatMap((thread) => {
      budget.spend(thread.steps.length)
      const streaks = streaksOf(stepsOf(run, thread), (step) => (isEmpty(run, step) ? true : null))
      return streaks.flatMap(({ items }) => {
        const [first] = items
        const last = items.at(-1)
        if (first === undefined || last === undefined || followsTheEnd(run, thread, first))
          return []
        const call = callOf(run, last)
        return [toFinding(run, items, call !== undefined && course.recoversAfter(call))]
      })
    })
  },
}

function stepsOf(run: TaskRun, { steps }: Thread): Step[] {
  return steps.flatMap((index) => run.steps[index] ?? [])
}

const cutReasons = new Set(['length', 'max_tokens', 'content_filter', 'refusal', 'safety'])

function isEmpty(run: TaskRun, step: Step): boolean {
  const call = callOf(run, step)
  if (call === undefined || step.tools.length > 0 || step.is_partial || !hasSucceeded(call))
    return false
  if (cutReasons.has(call.finish_reason.toLowerCase()) || step.refusal) return false
  if (step.text !== null) return step.text.trim() === '' && call.finish_reason !== 'tool_calls'
  return call.output_tokens === 0
}

function followsTheEnd(run: TaskRun, thread: Thread, step: Step): boolean {
  const at = thread.steps.indexOf(step.index)
  const before = run.steps[thread.steps[at - 1] ?? -1]
  if (before === undefined || step.after_user) return false
  return before.tools.some((index) => natureOfTool(run.tools[index]?.name ?? '').isEnd)
}

function toFinding(run: TaskRun, steps: readonly Step[], recovered: boolean): FindingDraft {
  const indexes = steps.map(({ index }) => index)
  const places = placesOfSteps(run, indexes)
  const first = run.calls[steps[0]?.call ?? -1]
  return toFailureDraft({
    type: 'empty_completion',
    severity: 'medium',
    recovered,
    began: places[0] ?? { trace_id: '', observation_id: '' },
    summary: `The model answered nothing ${countTimes(steps.length)}${
      recovered ? ', and then went on' : ', and the task ended there'
    }.`,
    start_step: indexes[0] ?? null,
    end_step: indexes.at(-1) ?? null,
    places,
    repeats: steps.length,
    waste: wasteOfSteps(run, indexes),
    evidence: {
      answers: steps.length,
      finish_reason: first?.finish_reason ?? '',
      output_tokens: first?.output_tokens ?? null,
    },
  })
}

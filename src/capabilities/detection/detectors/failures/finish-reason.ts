import { z } from 'zod'
import type { Detector, FindingDraft, Severity } from '../../contract.ts'
import {
  callsOf,
  countTimes,
  createCourse,
  faultOfCall,
  hasSucceeded,
  placeOf,
  type RunCourse,
  streaksOf,
  toFailureDraft,
  wasteOf,
} from '../../facts/index.ts'
import type { ModelCall, TaskRun } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  short_output_tokens: z
    .int()
    .min(0)
    .max(1_000)
    .default(16)
    .describe(
      'Maximum tokens of an answer that is cut on purpose (a label, a probe): low severity.',
    ),
})

/**
 * Finds answers that the provider ended before the model did: at the token limit or by its filter.
 * Consecutive ones are one finding; a later complete answer recovers it.
 */
export const finishReason: Detector<typeof settings> = {
  name: 'finish_reason',
  kind: 'failure',
  types: ['output_truncated', 'content_filter'],
  version: 1,
  needs: [],
  settings,
  detect(run, { short_output_tokens }, budget) {
    const course = createCourse(run, (call) => hasSucceeded(call) && endingOf(call) === null)
    return run.threads.flatMap((thread) => {
      budget.spend(thread.calls.length)
      return streaksOf(callsOf(run, thread), endingOf).flatMap(({ key, items }) =>
        key === 'output_truncated'
          ? toTruncatedFindings({ run, course, short_output_tokens }, items)
          : toFilteredFindings({ run, course, short_output_tokens }, items),
      )
    })
  },
}

type Ending = 'output_truncated' | 'content_filter'

const truncations = new Set(['length', 'max_tokens', 'max_output_tokens', 'model_length'])

const filters = new Set(
  'content_filter safety recitation blocklist prohibited_content spii guardrail_intervened refusal'.split(
    ' ',
  ),
)

const plainEnds = new Set(['stop', 'tool_calls', 'end_turn'])

function endingOf(call: ModelCall): Ending | null {
  if (plainEnds.has(call.finish_reason)) return null
  const reason = call.finish_reason.toLowerCase().replaceAll('-', '_')
  if (truncations.has(reason)) return 'output_truncated'
  return filters.has(reason) || faultOfCall(call) === 'content_filter' ? 'content_filter' : null
}

type StreakContext = { run: TaskRun; course: RunCourse; short_output_tokens: number }

function toTruncatedFindings(context: StreakContext, calls: readonly ModelCall[]): FindingDraft[] {
  const last = calls.at(-1)
  const step = context.run.steps[last?.step ?? -1]
  const isEmpty = step?.text === '' && step.tools.length === 0
  const isShort = (last?.output_tokens ?? Infinity) <= context.short_output_tokens && !isEmpty
  const what = isEmpty ? 'before the model said anything' : 'at the limit of its tokens'
  return toFindings(context, calls, {
    type: 'output_truncated',
    severity: isEmpty ? 'high' : isShort ? 'low' : 'medium',
    event: `An answer was cut ${what} ${countTimes(calls.length)}`,
  })
}

function toFilteredFindings(context: StreakContext, calls: readonly ModelCall[]): FindingDraft[] {
  return toFindings(context, calls, {
    type: 'content_filter',
    severity: 'medium',
    event: `The provider's filter ended an answer ${countTimes(calls.length)}`,
  })
}

type CutAnswer = { type: Ending; severity: Severity; event: string }

function toFindings(
  { run, course }: StreakContext,
  calls: readonly ModelCall[],
  { type, severity, event }: CutAnswer,
): FindingDraft[] {
  const [first] = calls
  const last = calls.at(-1)
  if (first === undefined || last === undefined) return []
  const recovered = course.recoversAfter(last)
  const end = recovered ? 'and a later answer was complete' : 'and no later answer was complete'
  const finding = toFailureDraft({
    type,
    severity,
    recovered,
    began: first,
    summary: `${event}, ${end}.`,
    start_step: first.step,
    end_step: last.step,
    places: calls.map(placeOf),
    repeats: calls.length,
    waste: wasteOf(run, recovered ? [] : calls),
    evidence: {
      finish_reason: last.finish_reason,
      output_tokens: last.output_tokens,
      calls: calls.length,
      model: last.model,
    },
  })
  return [finding]
}

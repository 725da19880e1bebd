import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  createCourse,
  cutText,
  natureOfTool,
  noWaste,
  placesOfUses,
  toFailureDraft,
} from '../../facts/index.ts'
import { spanKey, type TaskRun, type Thread, type ToolUse } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  share_max: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe(
      'Maximum share of a thread’s tool calls without a result. Above it (with at least 4 calls) ids ' +
        'were rewritten or results were not recorded: one finding of low severity.',
    ),
})

/**
 * Finds tool calls without a result although the agent continued, and results without a call. A
 * call that delivers the task's result needs no answer, and a rewritten history is skipped because
 * its earlier content is unknown.
 */
export const orphan: Detector<typeof settings> = {
  name: 'orphan',
  kind: 'failure',
  types: ['orphan_call', 'orphan_result'],
  version: 2,
  needs: ['texts', 'history'],
  settings,
  detect(run, { share_max }, budget) {
    const course = createCourse(run)
    return run.threads
      .flatMap((thread) => {
        const uses = course.usesOf(thread)
        budget.spend(uses.length)
        return findUnanswered(run, thread, { uses, share_max })
      })
      .concat(findUnasked(run))
  },
}

/** Minimum uses to judge how ids are recorded. */
const uses_min = 4

type ThreadUses = { uses: readonly ToolUse[]; share_max: number }

function findUnanswered(
  run: TaskRun,
  thread: Thread,
  { uses, share_max }: ThreadUses,
): FindingDraft[] {
  if (isRewritten(run, thread)) return []
  const open = uses.filter(({ orphan }) => orphan === 'call')
  const isSystematic = uses.length >= uses_min && open.length > uses.length * share_max
  if (isSystematic && open[0] !== undefined) return [toSystematicFinding(run, uses.length, open)]
  return open.flatMap((use) => (isExpected(use) ? [] : [toUnansweredFinding(run, thread, use)]))
}

function isExpected({ name }: ToolUse): boolean {
  return natureOfTool(name).isEnd
}

function toUnansweredFinding(run: TaskRun, thread: Thread, use: ToolUse): FindingDraft {
  const next = run.steps[thread.steps.find((step) => step > (use.step ?? -1)) ?? -1]
  const isInterrupted = next?.after_user ?? false
  const isSure = run.content === 'full' && !isInterrupted
  return toFinding(run, [use], {
    type: 'orphan_call',
    severity: isSure ? 'medium' : 'low',
    summary: `No result came for the call of “${use.name}”, ${
      isInterrupted ? 'which the user interrupted' : 'though the agent went on'
    }.`,
    confidence: isSure ? 0.9 : 0.6,
  })
}

/** Tells whether the history of a thread was rewritten: results can be missing from it. */
function isRewritten(run: TaskRun, thread: Thread): boolean {
  return run.breaks.some((broken) => broken.thread === thread.index)
}

function toSystematicFinding(run: TaskRun, count: number, open: readonly ToolUse[]): FindingDraft {
  return toFinding(run, open, {
    type: 'orphan_call',
    severity: 'low',
    summary: `Results are missing for ${open.length} of ${count} tool calls: they are not recorded, or under other ids.`,
    confidence: run.content === 'full' ? 0.6 : 0.4,
  })
}

/**
 * Finds results in a history, and runs of tools reported by their spans alone, that no call asked
 * for.
 */
function findUnasked(run: TaskRun): FindingDraft[] {
  if (!run.tools.some((use) => use.orphan === 'result' || isUnaskedRun(use))) return []
  const asked = new Set(run.tools.filter(isAskedById).map(({ thread }) => thread))
  const silent = findCallsWithoutHistory(run)
  const calls = new Set(run.calls.map(spanKey))
  const uses = run.tools.filter((use) => {
    if (use.answered_by !== null && silent.has(spanKey(use.answered_by))) return false
    const known = run.threads[use.thread]
    if (known === undefined || isRewritten(run, known)) return false
    if (use.orphan === 'result') return true
    return asked.has(use.thread) && isUnaskedRun(use) && !calls.has(spanKey(use.asked_by))
  })
  const [first] = uses
  if (first === undefined) return []
  const isSystematic = uses.length >= uses_min && uses.length * 2 > run.tools.length
  const groups = isSystematic ? [uses] : uses.map((use) => [use])
  return groups.map((group) => {
    const [use = first] = group
    const what = use.name === '' ? 'a tool' : `“${use.name}”`
    return toFinding(run, group, {
      type: 'orphan_result',
      severity: isSystematic || use.orphan === null ? 'low' : 'medium',
      summary: isSystematic
        ? `${group.length} tool results belong to calls that the run does not contain.`
        : `A result of ${what} came that no call had asked for.`,
      confidence: isSystematic ? 0.6 : 0.9,
    })
  })
}

/** Returns the calls whose messages contain no results: what they asked for is unknown. */
function findCallsWithoutHistory({ calls, messages, tools }: TaskRun): Set<string> {
  if (!tools.some(({ orphan: half }) => half === 'result')) return new Set()
  const bringing = new Set(messages.filter(({ role }) => role === 'tool').map(({ call }) => call))
  return new Set(calls.filter(({ index }) => !bringing.has(index)).map(spanKey))
}

function isAskedById({ step, tool_call_id }: ToolUse): boolean {
  return step !== null && tool_call_id !== ''
}

/**
 * Tells whether a run names a call that no answer of the model contains, although other calls are
 * listed. A call in a history that a model call sent is one that an earlier answer asked for.
 */
function isUnaskedRun({ step, tool_call_id, is_answered, orphan: half }: ToolUse): boolean {
  return step === null && tool_call_id !== '' && is_answered && half === null
}

type Orphan = Pick<FindingDraft, 'severity' | 'summary' | 'confidence'> & {
  type: 'orphan_call' | 'orphan_result'
}

/** Returns the step that asked, otherwise the step whose call first contained the result. */
function stepOf(run: TaskRun, { step, thread, answered_at }: ToolUse): number | null {
  if (step !== null || answered_at === null) return step
  const steps = run.threads[thread]?.steps ?? []
  const reporting = steps.find((at) => {
    const call = run.calls[run.steps[at]?.call ?? -1]
    return call !== undefined && call.start_time >= answered_at
  })
  return reporting ?? null
}

function toFinding(run: TaskRun, uses: readonly ToolUse[], orphan: Orphan): FindingDraft {
  const places = placesOfUses(uses)
  const steps = uses.flatMap((use) => stepOf(run, use) ?? [])
  const [first] = uses
  return toFailureDraft({
    ...orphan,
    recovered: false,
    began: places[0] ?? { trace_id: '', observation_id: '' },
    topic: first?.tool_call_id || `${first?.name ?? ''}:${first?.index ?? 0}`,
    start_step: steps[0] ?? null,
    end_step: steps.at(-1) ?? null,
    places,
    repeats: uses.length,
    waste: noWaste,
    evidence: {
      tool: first?.name ?? '',
      tool_call_id: cutText(first?.tool_call_id ?? ''),
      arguments: cutText(first?.arguments ?? ''),
      result: cutText(first?.result ?? ''),
      uses: uses.length,
    },
  })
}

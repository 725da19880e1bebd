import type { Observation } from '../../../../model/observation.ts'
import type { Step } from '../contract.ts'
import type { Head } from '../histories/heads.ts'
import { digestOf } from '../reading/digests.ts'
import { getEndTime } from '../reading/model-call.ts'
import { toHistoryCall } from '../reading/tool-parts.ts'
import type { RunState } from '../run-state.ts'
import { mayAct, readTextActions } from '../text-actions/read-text-actions.ts'
import type { TextAction, TextFormat } from '../text-actions/text-action.ts'
import { isInstruction, noFormat, readTextFormat } from '../text-actions/text-format.ts'
import { holdArguments, holdResult } from '../tools/hold-result.ts'
import { addUse, noResult, placeOf } from '../tools/tool-uses.ts'

/** An answer whose text may have actions. */
type TextAnswer = { thread: number; step: number; call: number; row: Observation; text: string }

/**
 * Adds the tool uses that an answer without tool calls writes as text, if the agent's instructions
 * ask for that, and returns their indexes.
 */
export function addTextUses(
  state: RunState,
  head: Head | undefined,
  { text, thread, step, call, row }: TextAnswer,
): number[] {
  if (head === undefined || !mayAct(text) || hasOtherTools(state, thread, call)) return []
  const actions = readTextActions(text, findFormat(state, head))
  const asking = {
    thread,
    step,
    row: { ...placeOf(row), start_time: row.start_time, end_time: getEndTime(row) },
  }
  return actions.flatMap((action) => addTextUse(state, action, asking) ?? [])
}

/** Tells whether the agent calls its tools by the API of its model, or spans recorded their runs. */
function hasOtherTools(state: RunState, thread: number, call: number): boolean {
  if ((state.calls[call]?.tools?.length ?? 0) > 0 || state.toolRuns.size > 0) return true
  const steps = state.threads[thread]?.steps ?? []
  const last = steps.findLast((at) => (state.steps[at]?.tools.length ?? 0) > 0)
  const use = state.tools[state.steps[last ?? -1]?.tools[0] ?? -1]
  return use !== undefined && use.read_from !== 'text'
}

/** Maximum formats of instructions kept for a run. */
const formats_max = 64

/** Returns the format that the instructions at the beginning of a history ask for. */
export function findFormat(state: RunState, head: Head): TextFormat {
  const texts = head.ids.slice(0, head.systems).map((id) => state.messages[id]?.text ?? '')
  const first = state.messages[head.ids[head.systems] ?? -1]
  if (texts.length === 0 && first?.role === 'user' && isInstruction(first.text)) {
    texts.push(first.text)
  }
  if (texts.length === 0) return noFormat
  const text = texts.join('\n')
  const key = digestOf(text)
  const known = state.formats.get(key)
  if (known !== undefined) return known
  if (state.formats.size >= formats_max) state.formats.clear()
  const format = readTextFormat(text)
  state.formats.set(key, format)
  return format
}

/** The step that wrote an action. */
type ActingStep = {
  thread: number
  step: number
  row: { trace_id: string; observation_id: string; start_time: bigint; end_time: bigint }
}

/** Adds the tool use of an action that an answer wrote as text; undefined beyond the limit. */
export function addTextUse(
  state: RunState,
  action: TextAction,
  { thread, step, row }: ActingStep,
): number | undefined {
  const asked = toHistoryCall('', action.name, action.args)
  const held = holdArguments(state, asked.arguments)
  const { observation } = action
  const own = { name: asked.name, arguments: held.arguments }
  const result =
    observation === undefined
      ? noResult
      : {
          ...noResult,
          ...holdResult(state, { text: observation, is_error: undefined }, own),
          is_answered: true,
          answered_at: row.end_time,
          answered_by: placeOf(row),
        }
  return addUse(state, {
    tool_call_id: '',
    name: asked.name,
    thread,
    step,
    ...held,
    arguments_broken: false,
    sig: asked.sig,
    ...result,
    read_from: 'text',
    asked_at: row.end_time,
    asked_by: placeOf(row),
    asked_from: row.start_time,
  })
}

/** Returns the indexes of a step's uses, read from its text, that wait for a result. */
export function findWaitingTextUses(state: RunState, step: Step): number[] {
  const open = new Set(state.lines[step.thread]?.open ?? [])
  return step.tools.filter((at) => open.has(at) && state.tools[at]?.read_from === 'text')
}

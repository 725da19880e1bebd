import type { Observation } from '../../../../model/observation.ts'
import type { ModelCall, Step } from '../contract.ts'
import { findAgent, setLane, spanKey } from '../histories/agent-lanes.ts'
import type { FollowedHistory } from '../histories/continue-history.ts'
import { followHistory } from '../histories/follow-history.ts'
import { rememberAnswer } from '../histories/follow-link.ts'
import { stepSigOf } from '../reading/digests.ts'
import { getContentState, getEndTime, mergeFacts, readCallFacts } from '../reading/model-call.ts'
import { readAnswer } from '../reading/read-answer.ts'
import type { HistoryMessage } from '../reading/read-messages.ts'
import { readReasoning } from '../reading/read-reasoning.ts'
import { toHistoryCall } from '../reading/tool-parts.ts'
import {
  addMessage,
  holdReasoning,
  holdText,
  lengthIfCut,
  noteFurtherRecord,
  type RunState,
} from '../run-state.ts'
import { holdArguments } from '../tools/hold-result.ts'
import { addAskedUses } from '../tools/tool-uses.ts'
import { takeMessages } from './take-messages.ts'
import { addTextUses } from './take-text-actions.ts'
import { takeTurn } from './take-user-texts.ts'

/**
 * Adds a model call to the run: its thread, its new messages, and its answer. A second report of a
 * known call only fills in missing fields.
 */
export function takeCall(state: RunState, row: Observation): void {
  const duplicate = findDuplicate(state, row)
  if (duplicate !== undefined) {
    rememberCall(state, row, duplicate)
    mergeDuplicate(state, row, duplicate)
    noteFurtherRecord(state, state.calls[duplicate]?.observation_id ?? '', row)
    return
  }
  const index = state.calls.length
  const followed = followHistory(state, row, index)
  const { thread } = followed
  const facts = readCallFacts(
    row,
    getContentState(row, followed.head !== undefined),
    state.declared,
  )
  const retry_of = findRetried(state, { thread, row, is_grown: followed.fresh.length > 0 })
  const sent = countHistory(followed)
  state.calls.push({ ...facts, index, thread, step: null, retry_of, ...sent })
  rememberCall(state, row, index)
  state.threads[thread]?.calls.push(index)
  setLane(state, findAgent(state, row).key, thread)
  takeMessages(state, followed, row)
  takeAnswer(state, followed, { row, call: index })
}

/** Counts the messages of a call's history: those of its head, and the new ones. */
function countHistory({
  head,
  fresh,
  prompt,
  is_only_new,
}: FollowedHistory): Pick<ModelCall, 'history_messages' | 'is_only_new'> {
  if (head === undefined) return { history_messages: null }
  const replaced = prompt === undefined ? 0 : 1
  const history_messages = head.ids.length + fresh.length - replaced
  return is_only_new === true ? { history_messages, is_only_new } : { history_messages }
}

function rememberCall(state: RunState, row: Observation, index: number): void {
  const { trace_id, parent_observation_id: parent } = row
  state.callsBySpan.set(spanKey(row), index)
  if (parent !== '') state.callsByParent.set(spanKey({ trace_id, observation_id: parent }), index)
}

/** Maximum time between a failed call and its retry. */
const retry_ns = 600_000_000_000n

/** Returns the failed call just before in the thread if this call repeats it. */
function findRetried(
  state: RunState,
  { thread, row, is_grown }: { thread: number; row: Observation; is_grown: boolean },
): number | null {
  const last = state.calls[state.threads[thread]?.calls.at(-1) ?? -1]
  if (is_grown || last === undefined || last.status === 'ok') return null
  return row.start_time - last.end_time <= retry_ns ? last.index : null
}

/** Number of latest calls that are compared with a new row. */
const recent_max = 16

/**
 * Finds the call that a row reports a second time, from another instrumentation or the proxy below
 * it: one is the other's parent, or another source reports the same model, answer and tokens at the
 * same time.
 */
function findDuplicate(state: RunState, row: Observation): number | undefined {
  const { trace_id, parent_observation_id } = row
  const parent = state.callsBySpan.get(spanKey({ trace_id, observation_id: parent_observation_id }))
  if (parent !== undefined) return parent
  const child = state.callsByParent.get(spanKey(row))
  if (child !== undefined) return child
  const first = Math.max(0, state.calls.length - recent_max)
  for (let at = state.calls.length - 1; at >= first; at--) {
    const call = state.calls[at]
    if (call !== undefined && isDuplicate(state, call, row)) return at
  }
  return undefined
}

function isDuplicate(state: RunState, call: ModelCall, row: Observation): boolean {
  if (call.trace_id !== row.trace_id || row.start_time >= call.end_time) return false
  const span = state.spans.get(spanKey(call))
  const isOtherSource = (span === undefined) !== (row.source === 'proxy')
  if (!isOtherSource || getEndTime(row) > call.end_time + slack_ns) return false
  const facts = readCallFacts(row, 'none', state.declared)
  if (call.output_tokens === null || call.output_tokens !== facts.output_tokens) return false
  return call.model === facts.model && call.finish_reason === facts.finish_reason
}

const slack_ns = 50_000_000n

/** Fills in the fields that only the second report has. */
function mergeDuplicate(state: RunState, row: Observation, index: number): void {
  const call = state.calls[index]
  if (call === undefined) return
  const content = getContentState(row, row.input !== '')
  const facts = readCallFacts(row, content, state.declared)
  const merged = mergeFacts(call, facts)
  state.calls[index] = merged
  if (call.content === 'none' && content !== 'none') addContent(state, row, merged, content)
}

/** Adds thread, history and answer to a call whose first report had no content. */
function addContent(
  state: RunState,
  row: Observation,
  call: ModelCall,
  content: ModelCall['content'],
): void {
  const followed = followHistory(state, row, call.index)
  const { thread } = followed
  moveLast(state, call, thread)
  const { content_state } = row
  state.calls[call.index] = { ...call, thread, content, content_state, ...countHistory(followed) }
  takeMessages(state, followed, row)
  const answer = readAnswer(row)
  const { head } = followed
  if (head !== undefined) {
    head.end_time = getEndTime(row)
    head.is_ok = row.status === 'ok'
  }
  rememberAnswer(state, { row, thread, head })
  const step = call.step === null ? undefined : state.steps[call.step]
  if (answer === undefined || step === undefined) return
  const { index } = step
  const asking = { thread, step: index, row, is_cut: step.is_partial }
  const whole = answer.text || answer.refusal
  const written = { thread, step: index, call: call.index, row, text: whole }
  const asked = step.tools.length > 0 ? step.tools : addAskedUses(state, answer.calls, asking)
  const tools = asked.length > 0 ? asked : addTextUses(state, head, written)
  if (step.tools.length > 0) addArguments(state, step, answer.calls)
  const text = holdText(state, whole)
  const cut = lengthIfCut(whole, text)
  state.steps[index] = {
    ...step,
    thread,
    text,
    ...cut,
    ...keepReasoning(state, row),
    tools,
    sig: stepSigOf(tools.map((tool) => state.tools[tool]?.sig ?? null)),
    after_user: takeTurn(state, thread, index) || step.after_user,
  }
  const said = { role: 'assistant' as const, text, ...cut, thread, call: call.index, step: index }
  const message = addMessage(state, said)
  if (head !== undefined) head.answer = { message, reported: answer }
}

/** Moves a call to the thread of its history; only the last call of a thread can move. */
function moveLast(state: RunState, call: ModelCall, thread: number): void {
  if (call.thread === thread) return
  const [from, to] = [state.threads[call.thread], state.threads[thread]]
  if (from?.calls.at(-1) === call.index) from.calls.pop()
  if (call.step !== null && from?.steps.at(-1) === call.step) from.steps.pop()
  to?.calls.push(call.index)
  if (call.step !== null) to?.steps.push(call.step)
}

/** Adds arguments to tool uses that were reported by name only. */
function addArguments(
  state: RunState,
  step: Step,
  calls: readonly { id: string; arguments: string; is_json: boolean; sig: string }[],
): void {
  for (const [at, index] of step.tools.entries()) {
    const use = state.tools[index]
    const call = calls.find(({ id }) => id !== '' && id === use?.tool_call_id) ?? calls[at]
    if (use === undefined || call === undefined || use.arguments !== null) continue
    const { is_json, sig } = call
    const held = holdArguments(state, call.arguments)
    const reported = { ...held, arguments_broken: !is_json, sig }
    state.tools[index] = { ...use, ...reported }
  }
}

const cutOutcomes = new Set<Observation['outcome']>(['upstream_cut', 'client_gone', 'timeout'])

/** Adds the step of a call's answer, and its tool uses. */
function takeAnswer(
  state: RunState,
  followed: FollowedHistory,
  { row, call }: AnsweringCall,
): void {
  const { thread, head } = followed
  const answer = readAnswer(row)
  if (head !== undefined) {
    head.end_time = getEndTime(row)
    head.is_ok = row.status === 'ok'
    head.answer = undefined
  }
  rememberAnswer(state, { row, thread, head })
  if (answer === undefined && !isSilentAnswer(row)) return
  const step = addStep(state, followed, { row, call, answer })
  if (answer === undefined) return
  const text = state.steps[step]?.text ?? ''
  const cut = lengthIfCut(answer.text || answer.refusal, text)
  const message = addMessage(state, { role: 'assistant', text, ...cut, thread, call, step })
  if (head !== undefined) head.answer = { message, reported: answer }
}

function keepReasoning(state: RunState, row: Observation): Pick<Step, 'reasoning'> {
  return state.reasoning_chars === undefined ? {} : holdReasoning(state, readReasoning(row))
}

/** Tells whether the call succeeded without reporting its answer. */
function isSilentAnswer(row: Observation): boolean {
  return row.status === 'ok' || row.tool_calls.length > 0
}

/** The row of a call and its index in the run. */
type AnsweringCall = { row: Observation; call: number }
type CallAnswer = AnsweringCall & { answer: HistoryMessage | undefined }

function addStep(
  state: RunState,
  { thread, head }: FollowedHistory,
  { row, call, answer }: CallAnswer,
): number {
  const index = state.steps.length
  const is_partial = cutOutcomes.has(row.outcome)
  const calls =
    answer?.calls ?? row.tool_calls.map((one) => toHistoryCall(one.id, one.name, one.arguments))
  const is_cut = is_partial || row.content_state === 'truncated'
  const whole = answer === undefined ? '' : answer.text || answer.refusal
  const asked = addAskedUses(state, calls, { thread, step: index, row, is_cut })
  const written = { thread, step: index, call, row, text: whole }
  const tools = calls.length > 0 ? asked : addTextUses(state, head, written)
  if (calls.length > 0) state.listedSteps.add(index)
  const text = answer === undefined ? null : holdText(state, whole)
  const step: Step = {
    index,
    thread,
    call,
    text,
    ...lengthIfCut(whole, text),
    ...keepReasoning(state, row),
    tools,
    sig: stepSigOf(tools.map((tool) => state.tools[tool]?.sig ?? null)),
    after_user: takeTurn(state, thread, index),
    is_partial,
    ...(answer === undefined || answer.refusal === ''
      ? {}
      : { refusal: holdText(state, answer.refusal) }),
  }
  state.steps.push(step)
  state.threads[thread]?.steps.push(index)
  const known = state.calls[call]
  if (known !== undefined) state.calls[call] = { ...known, step: index }
  return index
}

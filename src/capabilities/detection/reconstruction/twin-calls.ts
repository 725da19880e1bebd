import type { Observation } from '../../../model/observation.ts'
import { spanKey } from './agent-lanes.ts'
import type { ModelCall, Step } from './contract.ts'
import { stepSigOf } from './digests.ts'
import { followHistory } from './follow-history.ts'
import { callFactsOf, contentOf, endOf } from './model-call.ts'
import { readAnswer } from './read-answer.ts'
import { addMessage, heldText, type RunState } from './run-state.ts'
import { takeFresh } from './take-fresh.ts'
import { askFor } from './tool-uses.ts'

/** Calls of a trace that a second telling is looked for among. */
const recent_max = 16

/**
 * The call that a row tells a second time, by another instrumentation or by the proxy below it: its
 * parent is a call, or it is a call's parent, or another source tells of the same model, answer and
 * tokens at the same time.
 */
export function twinOf(state: RunState, row: Observation): number | undefined {
  const { trace_id, parent_observation_id, observation_id } = row
  const parent = state.callsBySpan.get(spanKey(trace_id, parent_observation_id))
  if (parent !== undefined) return parent
  const child = state.callsByParent.get(spanKey(trace_id, observation_id))
  if (child !== undefined) return child
  const first = Math.max(0, state.calls.length - recent_max)
  for (let at = state.calls.length - 1; at >= first; at--) {
    const call = state.calls[at]
    if (call !== undefined && isToldAgain(state, call, row)) return at
  }
  return undefined
}

function isToldAgain(state: RunState, call: ModelCall, row: Observation): boolean {
  if (call.trace_id !== row.trace_id || row.start_time >= call.end_time) return false
  const span = state.spans.get(spanKey(call.trace_id, call.observation_id))
  const isOtherSource = (span === undefined) !== (row.source === 'proxy')
  if (!isOtherSource || endOf(row) > call.end_time + slack_ns) return false
  const facts = callFactsOf(row, 'none', state.declared)
  if (call.output_tokens === null || call.output_tokens !== facts.output_tokens) return false
  return call.model === facts.model && call.finish_reason === facts.finish_reason
}

const slack_ns = 50_000_000n

/** Adds to a call what its second telling knows and the first one did not. */
export function mergeTwin(state: RunState, row: Observation, index: number): void {
  const call = state.calls[index]
  if (call === undefined) return
  const content = contentOf(row, row.input !== '')
  const facts = callFactsOf(row, content, state.declared)
  const merged: ModelCall = {
    ...call,
    status: call.status === 'ok' ? facts.status : call.status,
    status_code: call.status_code || facts.status_code,
    outcome: call.outcome || facts.outcome,
    error_type: call.error_type || facts.error_type,
    error_message: call.error_message || facts.error_message,
    finish_reason: call.finish_reason || facts.finish_reason,
    provider: call.provider || facts.provider,
    model: call.model || facts.model,
    input_tokens: call.input_tokens ?? facts.input_tokens,
    output_tokens: call.output_tokens ?? facts.output_tokens,
    nano_dollars: call.nano_dollars ?? facts.nano_dollars,
    tools: call.tools ?? facts.tools,
  }
  state.calls[index] = merged
  if (call.content === 'none' && content !== 'none') tellContent(state, row, merged, content)
}

/** The first telling had no content: thread, history and answer are known only now. */
function tellContent(
  state: RunState,
  row: Observation,
  call: ModelCall,
  content: ModelCall['content'],
): void {
  const followed = followHistory(state, row, call.index)
  const { thread } = followed
  moveLast(state, call, thread)
  state.calls[call.index] = { ...call, thread, content }
  takeFresh(state, followed, row)
  const answer = readAnswer(row)
  const { head } = followed
  if (head !== undefined) {
    head.end_time = endOf(row)
    head.is_ok = row.status === 'ok'
  }
  const step = call.step === null ? undefined : state.steps[call.step]
  if (answer === undefined || step === undefined) return
  const { index } = step
  const asking = { thread, step: index, row, is_cut: step.is_partial }
  const tools = step.tools.length > 0 ? step.tools : askFor(state, answer.calls, asking)
  if (step.tools.length > 0) tellArguments(state, step, answer.calls)
  const text = heldText(state, answer.text || answer.refusal)
  const line = state.lines[thread]
  state.steps[index] = {
    ...step,
    thread,
    text,
    tools,
    sig: stepSigOf(tools.map((tool) => state.tools[tool]?.sig ?? null)),
    after_user: step.after_user || (line?.after_user ?? false),
  }
  if (line !== undefined) line.after_user = false
  const message = addMessage(state, {
    role: 'assistant',
    text,
    thread,
    call: call.index,
    step: index,
  })
  if (head !== undefined) head.answer = { message, told: answer }
}

/** The call goes to the thread of its history; only the last one of a thread can. */
function moveLast(state: RunState, call: ModelCall, thread: number): void {
  if (call.thread === thread) return
  const [from, to] = [state.threads[call.thread], state.threads[thread]]
  if (from?.calls.at(-1) === call.index) from.calls.pop()
  if (call.step !== null && from?.steps.at(-1) === call.step) from.steps.pop()
  to?.calls.push(call.index)
  if (call.step !== null) to?.steps.push(call.step)
}

/** Names were told, arguments were not. */
function tellArguments(
  state: RunState,
  step: Step,
  calls: readonly { id: string; arguments: string; is_json: boolean; sig: string }[],
): void {
  for (const [at, index] of step.tools.entries()) {
    const use = state.tools[index]
    const call = calls.find(({ id }) => id !== '' && id === use?.tool_call_id) ?? calls[at]
    if (use === undefined || call === undefined || use.arguments !== null) continue
    const { is_json, sig } = call
    const told = { arguments: heldText(state, call.arguments), arguments_broken: !is_json, sig }
    state.tools[index] = { ...use, ...told }
  }
}

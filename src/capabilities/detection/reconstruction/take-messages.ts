import type { Observation } from '../../../model/observation.ts'
import type { Place, Step, ToolUse } from './contract.ts'
import { digestOf, stepSigOf } from './digests.ts'
import type { Followed } from './follow-history.ts'
import { maskVolatile } from './mask-volatile.ts'
import type { ToldMessage } from './read-messages.ts'
import { addMessage, bounds, heldText, type RunState } from './run-state.ts'
import { faultIn } from './tool-fault.ts'
import type { ToldCall } from './tool-parts.ts'

/** Takes what a history brought: answers come back, results are joined with their calls. */
export function joinFresh(state: RunState, followed: Followed, row: Observation): void {
  const { fresh, head, thread } = followed
  const call = state.calls.length - 1
  const line = state.lines[thread]
  const lastAssistant = fresh.findLastIndex(({ role }) => role === 'assistant')
  const isAnswered = { answer: false }
  for (const [at, told] of fresh.entries()) {
    head.digests.push(told.digest)
    if (isAnswer(head.answer, told)) {
      head.ids.push(head.answer?.message ?? 0)
      head.answer = undefined
      isAnswered.answer = true
      continue
    }
    if (told.role === 'user' && line !== undefined) line.after_user = true
    const text = heldText(state, told.text || told.refusal)
    head.ids.push(addMessage(state, { role: told.role, text, thread, call, step: null }))
    const isSeen = !followed.is_first || at >= lastAssistant
    if (told.role === 'assistant' && isSeen) askFor(state, told.calls, { thread, step: null, row })
    if (told.role === 'tool' && isSeen) joinResult(state, told, { thread, row })
  }
  if (isAnswered.answer) tellOrphans(state, thread)
}

function isAnswer(answer: Followed['head']['answer'], told: ToldMessage): boolean {
  if (answer === undefined || told.role !== 'assistant') return false
  if (answer.told.digest === told.digest) return true
  const ids = answer.told.calls.map(({ id }) => id).filter((id) => id !== '')
  if (ids.length > 0) return told.calls.some(({ id }) => ids.includes(id))
  return answer.told.text.trim() === told.text.trim() && answer.told.calls.length === told.calls.length
}

type Asking = { thread: number; step: number | null; row: Observation }

/** Adds tool uses for calls; answers their indexes. */
function askFor(state: RunState, calls: readonly ToldCall[], asking: Asking): number[] {
  return calls.flatMap((call) => {
    if (state.tools.length >= bounds.tools_max) {
      state.left_out.add(`tool calls beyond ${bounds.tools_max}`)
      return []
    }
    const index = state.tools.length
    state.tools.push(toolUse(state, { index, call, asking }))
    state.lines[asking.thread]?.open.push(index)
    const uses = state.usesById.get(call.id)
    if (uses === undefined) state.usesById.set(call.id, [index])
    else uses.push(index)
    return [index]
  })
}

function placeOf({ trace_id, observation_id }: Observation): Place {
  return { trace_id, observation_id }
}

function toolUse(
  state: RunState,
  { index, call, asking }: { index: number; call: ToldCall; asking: Asking },
): ToolUse {
  const { thread, step, row } = asking
  return {
    index,
    tool_call_id: call.id,
    name: call.name,
    thread,
    step,
    arguments: heldText(state, call.arguments),
    arguments_broken: !call.is_json,
    sig: call.sig,
    result: null,
    is_answered: false,
    out: null,
    masked: null,
    fault: null,
    asked_at: step === null ? row.start_time : row.end_time,
    answered_at: null,
    latency_ms: null,
    asked_by: placeOf(row),
    answered_by: null,
    orphan: null,
  }
}

function joinResult(
  state: RunState,
  told: ToldMessage,
  { thread, row }: { thread: number; row: Observation },
): void {
  const open = state.lines[thread]?.open ?? []
  const at = open.findLastIndex((index) => state.tools[index]?.tool_call_id === told.tool_call_id)
  const index = at === -1 ? undefined : open[at]
  const use = index === undefined ? undefined : state.tools[index]
  if (index === undefined || use === undefined) return
  open.splice(at, 1)
  const result = heldText(state, told.text)
  const { masked, out } = maskedOut(state, told.text)
  state.tools[index] = {
    ...use,
    result,
    is_answered: true,
    masked,
    out,
    fault: faultIn(told.text, { is_error: told.is_error, tool: use.name }),
    answered_at: row.start_time,
    latency_ms: use.step === null ? null : msBetween(use.asked_at, row.start_time),
    answered_by: placeOf(row),
    orphan: null,
  }
}

function maskedOut(state: RunState, text: string): { masked: string; out: string } {
  const masked = maskVolatile(text)
  return { masked: heldText(state, masked), out: digestOf(masked) }
}

function msBetween(from: bigint, to: bigint): number {
  return to > from ? Number(to - from) / 1e6 : 0
}

function tellOrphans(state: RunState, thread: number): void {
  for (const index of state.lines[thread]?.open ?? []) {
    const use = state.tools[index]
    if (use !== undefined && use.orphan === null) state.tools[index] = { ...use, orphan: 'call' }
  }
}

const cutOutcomes = new Set<Observation['outcome']>(['upstream_cut', 'client_gone', 'timeout'])

/** Adds the step that a call answered with, and its tool uses. */
export function addAnswer(
  state: RunState,
  { thread, head }: Followed,
  { row, answer }: { row: Observation; answer: ToldMessage | undefined },
): void {
  const call = state.calls.length - 1
  head.end_time = row.end_time
  head.answer = undefined
  if (answer === undefined) return
  const step = state.steps.length
  const tools = askFor(state, answer.calls, { thread, step, row })
  const text = heldText(state, answer.text || answer.refusal)
  const line = state.lines[thread]
  const told: Step = {
    index: step,
    thread,
    call,
    text,
    tools,
    sig: stepSigOf(answer.calls.map(({ sig }) => sig)),
    after_user: line?.after_user ?? false,
    is_partial: cutOutcomes.has(row.outcome),
  }
  state.steps.push(told)
  state.threads[thread]?.steps.push(step)
  const known = state.calls[call]
  if (known !== undefined) state.calls[call] = { ...known, step }
  if (line !== undefined) line.after_user = false
  const message = addMessage(state, { role: 'assistant', text, thread, call, step })
  head.answer = { message, told: answer }
}

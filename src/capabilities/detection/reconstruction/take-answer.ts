import type { Observation } from '../../../model/observation.ts'
import type { Step } from './contract.ts'
import { stepSigOf } from './digests.ts'
import type { Followed } from './follow-history.ts'
import { endOf } from './model-call.ts'
import { readAnswer } from './read-answer.ts'
import type { ToldMessage } from './read-messages.ts'
import { addMessage, heldText, type RunState } from './run-state.ts'
import { toldCall } from './tool-parts.ts'
import { askFor } from './tool-uses.ts'

const cutOutcomes = new Set<Observation['outcome']>(['upstream_cut', 'client_gone', 'timeout'])

/** Adds the step that a call answered with, and its tool uses. */
export function takeAnswer(
  state: RunState,
  followed: Followed,
  about: { row: Observation; call: number },
): void {
  const { row, call } = about
  const { thread, head } = followed
  const answer = readAnswer(row)
  if (head !== undefined) {
    head.end_time = endOf(row)
    head.is_ok = row.status === 'ok'
    head.answer = undefined
  }
  if (answer === undefined && !isSilentAnswer(row)) return
  const step = addStep(state, followed, { ...about, answer })
  if (answer === undefined) return
  const text = state.steps[step]?.text ?? ''
  const message = addMessage(state, { role: 'assistant', text, thread, call, step })
  if (head !== undefined) head.answer = { message, told: answer }
}

/** It went well, and nobody tells what it said. */
function isSilentAnswer(row: Observation): boolean {
  return row.status === 'ok' || row.tool_calls.length > 0
}

type Answered = { row: Observation; call: number; answer: ToldMessage | undefined }

function addStep(state: RunState, { thread }: Followed, { row, call, answer }: Answered): number {
  const index = state.steps.length
  const is_partial = cutOutcomes.has(row.outcome)
  const calls =
    answer?.calls ?? row.tool_calls.map((one) => toldCall(one.id, one.name, one.arguments))
  const is_cut = is_partial || row.content_state === 'truncated'
  const tools = askFor(state, calls, { thread, step: index, row, is_cut })
  if (calls.length > 0) state.listedSteps.add(index)
  const line = state.lines[thread]
  const step: Step = {
    index,
    thread,
    call,
    text: answer === undefined ? null : heldText(state, answer.text || answer.refusal),
    tools,
    sig: stepSigOf(tools.map((tool) => state.tools[tool]?.sig ?? null)),
    after_user: line?.after_user ?? false,
    is_partial,
    ...(answer === undefined || answer.refusal === ''
      ? {}
      : { refusal: heldText(state, answer.refusal) }),
  }
  state.steps.push(step)
  state.threads[thread]?.steps.push(index)
  const known = state.calls[call]
  if (known !== undefined) state.calls[call] = { ...known, step: index }
  if (line !== undefined) line.after_user = false
  return index
}

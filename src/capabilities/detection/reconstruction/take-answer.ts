import { itemsOf, objectFrom, parsedJson } from '../../../kernel/json-values.ts'
import type { Observation } from '../../../model/observation.ts'
import type { FollowedHistory } from './continue-history.ts'
import type { Step } from './contract.ts'
import { stepSigOf } from './digests.ts'
import { getEndTime } from './model-call.ts'
import { type HistoryMessage, readMessages } from './read-messages.ts'
import { addMessage, holdText, type RunState } from './run-state.ts'
import { toHistoryCall } from './tool-parts.ts'
import { addAskedUses } from './tool-uses.ts'

const cutOutcomes = new Set<Observation['outcome']>(['upstream_cut', 'client_gone', 'timeout'])

/** Adds the step of a call's answer, and its tool uses. */
export function takeAnswer(
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
  if (answer === undefined && !isSilentAnswer(row)) return
  const step = addStep(state, followed, { row, call, answer })
  if (answer === undefined) return
  const text = state.steps[step]?.text ?? ''
  const message = addMessage(state, { role: 'assistant', text, thread, call, step })
  if (head !== undefined) head.answer = { message, reported: answer }
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
  { thread }: FollowedHistory,
  { row, call, answer }: CallAnswer,
): number {
  const index = state.steps.length
  const is_partial = cutOutcomes.has(row.outcome)
  const calls =
    answer?.calls ?? row.tool_calls.map((one) => toHistoryCall(one.id, one.name, one.arguments))
  const is_cut = is_partial || row.content_state === 'truncated'
  const tools = addAskedUses(state, calls, { thread, step: index, row, is_cut })
  if (calls.length > 0) state.listedSteps.add(index)
  const line = state.lines[thread]
  const step: Step = {
    index,
    thread,
    call,
    text: answer === undefined ? null : holdText(state, answer.text || answer.refusal),
    tools,
    sig: stepSigOf(tools.map((tool) => state.tools[tool]?.sig ?? null)),
    after_user: line?.after_user ?? false,
    is_partial,
    ...(answer === undefined || answer.refusal === ''
      ? {}
      : { refusal: holdText(state, answer.refusal) }),
  }
  state.steps.push(step)
  state.threads[thread]?.steps.push(index)
  const known = state.calls[call]
  if (known !== undefined) state.calls[call] = { ...known, step: index }
  if (line !== undefined) line.after_user = false
  return index
}

/**
 * Reads the model's answer; undefined without content. Takes the first of several choices. Tool
 * calls missing from the text are read from their own column.
 */
export function readAnswer(row: Observation): HistoryMessage | undefined {
  if (row.output === '') return undefined
  const value = row.output[0] === '[' || row.output[0] === '{' ? parsedJson(row.output) : undefined
  const reported = readMessages(unwrapChoices(value ?? row.output), 'assistant')
  const said = reported.filter(({ role }) => role === 'assistant')
  const [first] = said
  if (first === undefined) return undefined
  const answer = row.source === 'proxy' ? first : joinMessages(said, first)
  if (answer.calls.length > 0 || row.tool_calls.length === 0) return answer
  const calls = row.tool_calls.map(({ id, name, arguments: args }) => toHistoryCall(id, name, args))
  return { ...answer, calls }
}

/**
 * Unwraps a provider's whole response, which lists its messages as choices, candidates or items.
 */
function unwrapChoices(value: unknown): unknown {
  const object = objectFrom(value)
  if (object === undefined) return value
  const choices = itemsOf(object['choices'] ?? object['generations'] ?? object['candidates'])
  if (choices.length > 0) return [choices[0]]
  return Array.isArray(object['output']) ? object['output'] : value
}

/** Joins the messages of one answer: instrumentations report its text and tool calls separately. */
function joinMessages(said: readonly HistoryMessage[], first: HistoryMessage): HistoryMessage {
  if (said.length === 1) return first
  const calls = said.flatMap((message) => message.calls)
  const texts = said.map(({ text }) => text).filter((text) => text !== '')
  const isOneAnswer = calls.length > 0 || texts.length <= 1
  return isOneAnswer ? { ...first, text: texts.join('\n'), calls } : first
}

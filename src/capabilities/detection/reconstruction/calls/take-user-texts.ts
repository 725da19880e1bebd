import type { Observation } from '../../../../model/observation.ts'
import type { Step } from '../contract.ts'
import type { Head } from '../histories/heads.ts'
import { stepSigOf } from '../reading/digests.ts'
import {
  isReminder,
  isSameNudge,
  readAddedObservation,
  readForm,
  readWrittenAction,
  readWrittenResult,
  type TextForm,
  type WrittenResult,
} from '../reading/harness-texts.ts'
import type { HistoryMessage } from '../reading/read-messages.ts'
import type { Nudge, RunState } from '../run-state.ts'
import {
  asksPerson,
  canBeOutput,
  endsTask,
  isChat,
  isOutput,
  stripResultMark,
} from '../text-actions/observations.ts'
import { readLikelyActions } from '../text-actions/read-text-actions.ts'
import type { TextAction } from '../text-actions/text-action.ts'
import { joinResult } from '../tools/tool-uses.ts'
import { addTextUse, findFormat, findWaitingTextUses } from './take-text-actions.ts'

/** The texts of the user among the new messages of one call. */
export type UserTexts = {
  /** True if the last message was a tool's result, or a text behind one. */
  is_after_result: boolean
  /** True if a person must have spoken. */
  is_person: boolean
  /** Texts behind results, and their messages: a harness's if they recur. */
  texts: string[]
  messages: number[]
  /** The answer before, as the client sent it. */
  sent: string
}

/** Creates the empty list of a call. */
export function noUserTexts(): UserTexts {
  return { is_after_result: false, is_person: false, texts: [], messages: [], sent: '' }
}

/** The call that brought a text, and its history. */
type TextSource = { thread: number; row: Observation; head?: Head }

/** Notes a message that an earlier history had. */
export function noteKnownMessage(texts: UserTexts, { role, text }: HistoryMessage): void {
  if (role === 'assistant') texts.sent = text
  if (role === 'assistant' || role === 'tool') texts.is_after_result = role === 'tool'
}

/**
 * Notes a new message of any role. Returns true for a text of the user that the harness wrote: a
 * result, which answers the step before, or a reminder.
 */
export function noteNewMessage(
  state: RunState,
  texts: UserTexts,
  reported: HistoryMessage,
  source: TextSource,
): boolean {
  const isNext = texts.sent !== '' && !texts.is_after_result && !texts.is_person
  noteKnownMessage(texts, reported)
  if (reported.role !== 'user') return false
  const written = readWrittenResult(reported.text)
  if (written === undefined) {
    return (
      (isNext && takeAwaitedResult(state, texts, reported.text, source)) ||
      isReminder(reported.text)
    )
  }
  const isResult = answerStep(state, written, { ...source, sent: texts.sent })
  if (isResult) texts.is_after_result = true
  return isResult
}

/**
 * Answers the actions that the last step wrote as text with the next text in the user's name. Returns
 * false for words of a person: a question to the user is answered by them too.
 */
function takeAwaitedResult(
  state: RunState,
  texts: UserTexts,
  text: string,
  source: TextSource,
): boolean {
  const step = state.steps[state.threads[source.thread]?.steps.at(-1) ?? -1]
  if (step === undefined || step.text === null) return false
  if (step.tools.length === 0 && !addLikelyUses(state, step, text, source)) return false
  const waiting = findWaitingTextUses(state, state.steps[step.index] ?? step)
  const names = waiting.map((at) => state.tools[at]?.name ?? '')
  if (waiting.length === 0 || names.every(endsTask)) return false
  if (isChat(text) && !names.some(asksPerson)) return false
  const result = { text: stripResultMark(text), is_error: undefined }
  answerStep(state, result, { ...source, sent: texts.sent })
  texts.is_after_result = !names.some(asksPerson)
  return texts.is_after_result
}

/**
 * Adds the actions of an answer that the instructions only hint at, once texts like a program's output
 * followed two of them: one alone can be what a person pasted.
 */
function addLikelyUses(state: RunState, step: Step, text: string, source: TextSource): boolean {
  const line = state.lines[source.thread]
  const actions = readLikely(state, step, source)
  if (line === undefined || actions.length === 0) return false
  const { shown } = line
  if (shown === 'run') return canBeOutput(text) && addUses(state, step, actions)
  if (!isOutput(text)) {
    line.shown = undefined
    return false
  }
  if (shown === undefined) {
    line.shown = { step: step.index, text }
    return false
  }
  line.shown = 'run'
  addShownUses(state, shown, source)
  return addUses(state, state.steps[step.index] ?? step, actions)
}

function readLikely(state: RunState, step: Step, { head }: TextSource): TextAction[] {
  return head === undefined ? [] : readLikelyActions(step.text ?? '', findFormat(state, head))
}

/** Adds the uses of the first step of an agent whose code is run, with the output kept for it. */
function addShownUses(
  state: RunState,
  shown: { step: number; text: string },
  source: TextSource,
): void {
  const step = state.steps[shown.step]
  if (step === undefined) return
  const observation = stripResultMark(shown.text)
  const actions = readLikely(state, step, source)
  addUses(
    state,
    step,
    actions.map((action) => ({ ...action, observation })),
  )
  const at = state.messages.findLastIndex(
    ({ role, text }) => role === 'user' && text === shown.text,
  )
  const message = state.messages[at]
  if (message !== undefined) state.messages[at] = { ...message, is_harness: true }
  const steps = state.threads[source.thread]?.steps ?? []
  const next = state.steps[steps[steps.indexOf(shown.step) + 1] ?? -1]
  if (next !== undefined) state.steps[next.index] = { ...next, after_user: false }
}

/** Answers the last step with an observation that the client added to the answer itself. */
export function takeAddedObservation(
  state: RunState,
  said: HistoryMessage | undefined,
  { text: sent }: HistoryMessage,
  source: TextSource,
): void {
  const text = said && readAddedObservation(sent.trimStart().slice(said.text.trim().length))
  if (text !== undefined) answerStep(state, { text, is_error: undefined }, { ...source, sent })
}

/** Answers the last step with the report of the next prompt, which the harness wrote. */
export function takeReport(state: RunState, text: string, source: TextSource): true {
  answerStep(state, { text, is_error: undefined }, { ...source, sent: '' })
  return true
}

/** Notes a text of the user of which no mark says who wrote it. */
export function noteUserText(texts: UserTexts, text: string, message: number): void {
  if (!texts.is_after_result) texts.is_person = true
  texts.texts.push(text)
  texts.messages.push(message)
}

/**
 * Answers the last step of a thread with a result that the harness wrote as text. A step that wrote
 * its action as text gets a tool use. Returns false if the step asked for nothing.
 */
function answerStep(
  state: RunState,
  { text, is_error }: WrittenResult,
  { thread, row, sent }: TextSource & { sent: string },
): boolean {
  const step = state.steps[state.threads[thread]?.steps.at(-1) ?? -1]
  if (step === undefined || step.text === null) return false
  if (step.tools.length === 0 && !addWrittenUse(state, step, sent)) return false
  const waiting = (state.lines[thread]?.open ?? []).filter(
    (index) => state.tools[index]?.step === step.index,
  )
  for (const index of waiting) {
    const { tool_call_id = '', name = '' } = state.tools[index] ?? {}
    const reported = { text, is_error, tool_call_id, tool_name: name }
    joinResult(state, reported, { thread, row, is_quiet: true })
  }
  return true
}

function addWrittenUse(state: RunState, step: Step, sent: string): boolean {
  const action = readWrittenAction(step.text ?? '', sent)
  return action !== undefined && addUses(state, step, [action])
}

/** Adds uses to a step without uses; returns false if there is nothing to add. */
function addUses(state: RunState, step: Step, actions: readonly TextAction[]): boolean {
  const call = state.calls[step.call]
  if (call === undefined) return false
  const asking = { thread: step.thread, step: step.index, row: call }
  const tools = actions.flatMap((action) => addTextUse(state, action, asking) ?? [])
  if (tools.length === 0) return false
  const sig = stepSigOf(tools.map((at) => state.tools[at]?.sig ?? null))
  state.steps[step.index] = { ...step, tools, sig }
  return true
}

/** Minimum occurrences in a row of a text before it is a harness's. */
const nudges_min = 3
/** Maximum texts of a harness remembered per thread. */
const nudges_max = 8

/** Decides who wrote the texts of a call: a person begins a new turn. */
export function closeUserTexts(
  state: RunState,
  texts: UserTexts,
  { thread, row }: TextSource,
): void {
  const line = state.lines[thread]
  if (line === undefined || texts.texts.length === 0) return
  if (texts.is_person) {
    line.after_user = true
    line.nudged = undefined
    line.nudges = line.nudges.filter((nudge) => nudge.is_harness)
    return
  }
  const form = readForm(texts.texts.join('\n'))
  const isKnown = (nudge: Nudge) => isSameNudge(nudge.form, form) && isOneTrace(nudge, row)
  const nudge = line.nudges.find(isKnown) ?? addNudge(line.nudges, form, row)
  nudge.form = form
  nudge.messages.push(...texts.messages)
  if (!nudge.is_harness && nudge.steps.length + 1 >= nudges_min) confirmNudge(state, nudge)
  if (nudge.is_harness) {
    markHarness(state, nudge)
    return
  }
  line.nudges = line.nudges.filter((other) => other === nudge || other.is_harness)
  line.nudged = line.after_user ? undefined : nudge
  line.after_user = true
}

/** Spans of one run share a trace; calls through the proxy can have one each. */
function isOneTrace({ trace_id }: Nudge, row: Observation): boolean {
  return row.source === 'proxy' || trace_id === row.trace_id
}

function addNudge(nudges: Nudge[], form: TextForm, { trace_id }: Observation): Nudge {
  const nudge = { form, trace_id, messages: [], steps: [], is_harness: false }
  nudges.push(nudge)
  if (nudges.length > nudges_max) nudges.shift()
  return nudge
}

/** Takes back that a person spoke before the steps that follow the text. */
function confirmNudge(state: RunState, nudge: Nudge): void {
  nudge.is_harness = true
  for (const index of nudge.steps) {
    const step = state.steps[index]
    if (step !== undefined) state.steps[index] = { ...step, after_user: false }
  }
  nudge.steps = []
}

function markHarness(state: RunState, nudge: Nudge): void {
  for (const index of nudge.messages) {
    const message = state.messages[index]
    if (message !== undefined) state.messages[index] = { ...message, is_harness: true }
  }
  nudge.messages = []
}

/** Tells whether a person spoke before a new step of a thread. */
export function takeTurn(state: RunState, thread: number, step: number): boolean {
  const line = state.lines[thread]
  if (line === undefined) return false
  const { after_user, nudged } = line
  nudged?.steps.push(step)
  line.after_user = false
  line.nudged = undefined
  return after_user
}

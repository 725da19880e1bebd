import { hash } from 'node:crypto'
import { hasNoContent, type Observation, type ToolResult } from '../../../../model/observation.ts'
import { spanKey } from '../histories/agent-lanes.ts'
import type { FollowedHistory } from '../histories/continue-history.ts'
import { holdThread } from '../histories/follow-link.ts'
import { type Head, isAnswer } from '../histories/heads.ts'
import { isWrittenAnswer } from '../reading/harness-texts.ts'
import type { HistoryMessage } from '../reading/read-messages.ts'
import { addMessage, bounds, holdText, lengthIfCut, type RunState } from '../run-state.ts'
import type { CallResult } from '../tools/hold-result.ts'
import {
  addAskedUses,
  addOrphan,
  dropWaitingUses,
  isAskedWith,
  joinResult,
  markOrphans,
} from '../tools/tool-uses.ts'
import {
  closeUserTexts,
  noteKnownMessage,
  noteNewMessage,
  noteUserText,
  noUserTexts,
  takeAddedObservation,
  takeReport,
  type UserTexts,
} from './take-user-texts.ts'

/**
 * Adds the new messages of a history: answers are recognised, results are joined with their calls.
 */
export function takeMessages(state: RunState, followed: FollowedHistory, row: Observation): void {
  const { fresh, head } = followed
  if (head === undefined) {
    takeResults(state, followed.thread, row)
    return
  }
  const before = head.answer
  const isAnswerResent = takeHistory(state, head, followed, row)
  if (followed.prompt !== undefined) replacePrompt(head, followed.prompt)
  if (isAnswerResent) markOrphans(state, followed.thread)
  else if (before !== undefined && fresh.length > 0)
    dropWaitingUses(state, followed.thread, before.message)
}

/** Adds the new messages to the head; returns true if the answer before was one of them. */
function takeHistory(
  state: RunState,
  head: Head,
  { fresh, known, thread, is_first, prompt }: FollowedHistory,
  row: Observation,
): boolean {
  const from = is_first ? findLastAnswer(fresh) : 0
  const source = { thread, row }
  const texts = noUserTexts()
  if (is_first && fresh.some((message) => message.is_reference)) holdThread(state, thread)
  const is_quiet = known !== undefined || state.threads[thread]?.is_held === true
  const is_report = prompt !== undefined
  const taking = { ...source, head, texts, is_quiet, is_report, call: getCallIndex(state, row) }
  const before = head.answer?.reported
  let isAnswerResent = false
  for (const [at, reported] of fresh.entries()) {
    const answer = matchAnswer(head, reported)
    const first = answer ?? known?.[at] ?? -1
    const isNew = first === -1
    const id = isNew ? addNewMessage(state, reported, { ...taking, is_seen: at >= from }) : first
    if (!isNew) noteKnownMessage(texts, reported)
    if (answer !== undefined) {
      isAnswerResent = true
      takeAddedObservation(state, before, reported, source)
    }
    pushMessage(head, reported, id)
  }
  closeUserTexts(state, texts, source)
  return isAnswerResent
}

/** Replaces the last prompt of a history, and drops the report, which is a part of the new one. */
function replacePrompt(head: Head, { digest, text }: HistoryMessage): void {
  head.ids.pop()
  head.digests.splice(-2, 2, digest)
  head.prompt = text
}

function pushMessage(head: Head, { role, digest, text }: HistoryMessage, id: number): void {
  head.prompt = role === 'user' ? text : ''
  head.digests.push(digest)
  head.ids.push(id)
  if (role === 'system' && head.systems === head.ids.length - 1) head.systems += 1
}

/** Returns the first message of the last answer: its calls can be messages of their own. */
function findLastAnswer(messages: readonly HistoryMessage[]): number {
  let at = messages.findLastIndex(({ role }) => role === 'assistant')
  while (messages[at - 1]?.role === 'assistant') at -= 1
  return at
}

/**
 * Returns the message of the expected answer if this message is all or part of it: some clients
 * send the calls of one answer as separate messages. The results follow.
 */
function matchAnswer(head: Head, reported: HistoryMessage): number | undefined {
  const { answer } = head
  if (answer === undefined) return undefined
  const isWritten = isWrittenAnswer(answer.reported, reported)
  const isMatch = isWritten || isAnswer(answer, reported)
  const isWhole = isWritten || (isMatch && reported.calls.length >= answer.reported.calls.length)
  if (isWhole || reported.role !== 'assistant') head.answer = undefined
  return isMatch ? answer.message : undefined
}

type NewMessage = {
  thread: number
  row: Observation
  head: Head
  call: number
  texts: UserTexts
  /** False for a message of a first history that is older than its last answer. */
  is_seen: boolean
  is_quiet: boolean
  /** True for a prompt's report about the last answer. */
  is_report: boolean
}

/** Adds a new message, with its tool calls or results. */
function addNewMessage(state: RunState, reported: HistoryMessage, source: NewMessage): number {
  const { thread, row, head, call, texts, is_seen, is_quiet, is_report } = source
  if (reported.role === 'assistant' && is_seen) {
    addAskedUses(state, reported.calls, { thread, step: null, row, is_cut: false })
  }
  let tool: number | undefined
  if (reported.role === 'tool' && is_seen) {
    tool = joinResult(state, reported, { thread, row, is_quiet })
    if (tool === undefined && !is_quiet) tool = addOrphan(state, reported, { thread, row })
  }
  const is_harness = is_report
    ? takeReport(state, reported.text, { thread, row })
    : noteNewMessage(state, texts, reported, { thread, row, head })
  const whole = reported.text || reported.refusal
  const text = holdText(state, whole)
  const cut = lengthIfCut(whole, text)
  const said = { role: reported.role, text, ...cut, thread, call, step: null }
  const about = { ...(is_harness && { is_harness }), ...(tool !== undefined && { tool }) }
  const id = addMessage(state, { ...said, ...about })
  if (reported.role === 'user' && !is_harness) noteUserText(texts, reported.text, id)
  return id
}

function getCallIndex(state: RunState, row: Observation): number {
  return state.callsBySpan.get(spanKey(row)) ?? state.calls.length - 1
}

/**
 * Takes the results of a call without a history. Clients re-send results: with a retry, and with
 * each later call if they send the whole history. An id does not identify a new result: some
 * providers give none, some agents restart their count. So results are counted by (id, content),
 * and a call adds as many new ones as it exceeds every earlier call. Where tool calls with an id
 * still wait, the last results with that id answer them.
 */
function takeResults(state: RunState, thread: number, row: Observation): void {
  const results = row.tool_results
  if (results.length === 0) return
  const fresh = selectNew(state, results)
  for (const [id, indexes] of Map.groupBy(results.keys(), (at) => results[at]?.tool_call_id)) {
    addFromEnd(indexes, fresh, countWaiting(state, thread, id ?? ''))
  }
  const is_hidden = hasNoContent(row)
  for (const [at, { tool_call_id, content: text }] of results.entries()) {
    if (!fresh.has(at)) continue
    const tool_name = findToolName(state, thread, tool_call_id)
    const reported: CallResult = {
      tool_call_id,
      tool_name,
      text,
      is_error: undefined,
      is_hidden,
    }
    const asked = joinResult(state, reported, { thread, row, is_quiet: true })
    if (asked === undefined) addOrphan(state, reported, { thread, row })
  }
}

/** Returns the indexes of results that occur more often than in any earlier call. */
function selectNew(state: RunState, results: readonly ToolResult[]): Set<number> {
  const { resultCounts, left_out } = state
  const here = new Map<string, number>()
  const fresh = new Set<number>()
  for (const [index, result] of results.entries()) {
    const key = resultKey(result)
    const times = (here.get(key) ?? 0) + 1
    here.set(key, times)
    const known = resultCounts.get(key)
    if (times <= (known ?? 0)) continue
    if (known === undefined && resultCounts.size >= bounds.maxResultCounts) {
      left_out.add(`results of calls without a history beyond ${bounds.maxResultCounts}`)
      continue
    }
    resultCounts.set(key, times)
    fresh.add(index)
  }
  return fresh
}

/** Adds indexes, last first, until the set contains `wanted` of them. */
function addFromEnd(indexes: readonly number[], fresh: Set<number>, wanted: number): void {
  let lacking = wanted - indexes.filter((index) => fresh.has(index)).length
  for (const index of indexes.toReversed()) {
    if (lacking <= 0) return
    if (fresh.has(index)) continue
    fresh.add(index)
    lacking -= 1
  }
}

/** Counts the waiting tool calls with this id in the latest answer that used it. */
function countWaiting(state: RunState, thread: number, id: string): number {
  const isWaiting = (index: number) => {
    const use = state.tools[index]
    return use?.thread === thread && !use.is_answered
  }
  const uses = state.usesById.get(id)
  if (uses !== undefined) {
    const latest = state.tools[uses.at(-1) ?? -1]
    if (latest === undefined) return 0
    const first = uses.findLastIndex((index) => !isAskedWith(state, index, latest)) + 1
    return uses.slice(first).filter(isWaiting).length
  }
  return findOpenByName(state, thread, id).length
}

/**
 * Returns the name of a legacy function call, which has no id: its result uses the function's name.
 */
function findToolName(state: RunState, thread: number, id: string): string {
  if (id === '' || state.usesById.has(id)) return ''
  return findOpenByName(state, thread, id).length > 0 || state.ranWithoutId.has(id) ? id : ''
}

function findOpenByName(state: RunState, thread: number, name: string): number[] {
  const open = state.lines[thread]?.open ?? []
  return open.filter((index) => {
    const use = state.tools[index]
    return use?.tool_call_id === '' && use.name === name
  })
}

/** Longer keys are replaced by their digest, to save memory. */
const maxKeyLength = 64

function resultKey({ tool_call_id, content }: ToolResult): string {
  const key = `${tool_call_id}\n${content}`
  return key.length > maxKeyLength ? hash('sha256', key, 'base64') : key
}

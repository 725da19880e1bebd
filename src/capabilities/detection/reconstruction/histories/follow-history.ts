import { parsedJson } from '../../../../kernel/json-values.ts'
import type { Observation } from '../../../../model/observation.ts'
import type { HistoryBreak } from '../contract.ts'
import { type HistoryMessage, readMessages } from '../reading/read-messages.ts'
import type { RunState } from '../run-state.ts'
import { findAgent, setLane } from './agent-lanes.ts'
import {
  type Alignment,
  alignHistories,
  countPrefix,
  isRestated,
  isSummary,
  nameBreak,
} from './align-histories.ts'
import {
  continueHead,
  type FollowedHistory,
  followLane,
  reuse_ns,
  type SentHistory,
  splitDetour,
  startBranch,
  startThread,
} from './continue-history.ts'
import { findWaitingHead, followLink, readLink, selectNew } from './follow-link.ts'
import { findWrittenPrompt } from './follow-prompt.ts'
import { type Head, isAnswer, leaveHead, newHead, useHead } from './heads.ts'

/**
 * Finds the thread that a call continues. A call that names its history is followed by its link. A history that only grew starts with the exact text sent
 * before, except for its last bracket, so only the rest is parsed. Other histories are compared
 * message by message.
 */
export function followHistory(state: RunState, row: Observation, call: number): FollowedHistory {
  const link = readLink(row)
  if (link !== undefined) {
    const messages = row.input === '' ? undefined : readHistory(row)
    const linked = followLink(state, { row, call, messages }, link)
    if (linked !== undefined) return linked
  }
  if (row.input === '') return followLane(state, row)
  const raw = toRawList(row.input)
  const longest = raw === undefined ? undefined : findLongestText(state.heads, raw)
  if (raw !== undefined && longest?.raw !== undefined) {
    const rest = cutSent(raw, longest.raw)
    const fresh = rest === '' ? [] : readMessages(parsedJson(rest), 'user')
    return continueHead(state, longest, { row, raw, fresh, call })
  }
  const messages = readHistory(row)
  if (messages === undefined) return followLane(state, row)
  const whole = { row, raw, fresh: messages, call }
  const compared = findLongestPrefix(state.heads, messages)
  if (compared !== undefined) {
    return continueHead(state, compared, { ...whole, fresh: messages.slice(compared.ids.length) })
  }
  const written = findWrittenPrompt(state.heads, messages)
  if (written === undefined) return breakOrStart(state, whole)
  const { head, prompt, report } = written
  const fresh = readMessages([{ role: 'user', content: [report] }], 'user')
  return { ...continueHead(state, head, { ...whole, fresh }), prompt }
}

/** Returns the text if it is a plain list of messages, which can be compared as text. */
function toRawList(input: string): string | undefined {
  return input.startsWith('[{') && input.endsWith('}]') ? input : undefined
}

/**
 * Reads the messages that a call sent, in any convention; undefined for a text that was cut and
 * cannot be parsed.
 */
export function readHistory({ input, content_state }: Observation): HistoryMessage[] | undefined {
  const isJson = input[0] === '[' || input[0] === '{' || input[0] === '"'
  const value = isJson ? parsedJson(input) : undefined
  if (value === undefined && content_state === 'truncated') return undefined
  return readMessages(value ?? input, 'user')
}

function findLongestText(heads: readonly Head[], raw: string): Head | undefined {
  let longest: Head | undefined
  for (const head of heads) {
    const length = head.raw?.length ?? 0
    if (head.raw === undefined || length < (longest?.raw?.length ?? 0)) continue
    if (isContinued(raw, head.raw)) longest = head
  }
  return longest
}

function isContinued(raw: string, sent: string): boolean {
  const end = sent.length - 1
  if (raw.length < sent.length) return false
  const next = raw[end]
  if (next !== ',' && (next !== ']' || raw.length > sent.length)) return false
  // Comparing two slices compares memory; startsWith compares character by character.
  return raw.slice(0, end) === sent.slice(0, end)
}

/** Returns the messages after the ones sent before, as a JSON list. */
function cutSent(raw: string, sent: string): string {
  return raw.length === sent.length ? '' : `[${raw.slice(sent.length)}`
}

function findLongestPrefix(
  heads: readonly Head[],
  messages: readonly HistoryMessage[],
): Head | undefined {
  let longest: Head | undefined
  for (const head of heads) {
    const { length } = head.digests
    if (length === 0 || length > messages.length || length < (longest?.ids.length ?? 0)) continue
    // Most different histories already differ in the last message.
    if (head.digests[length - 1] !== messages[length - 1]?.digest) continue
    if (countPrefix(head.digests, messages) === length) longest = head
  }
  return longest
}

type RelatedHead = { head: Head; aligned: Alignment }

/** Places a history that continues none unchanged: as a break in a thread or as a new thread. */
function breakOrStart(state: RunState, sent: SentHistory): FollowedHistory {
  const waiting = findWaitingHead(state, sent.fresh)
  if (waiting !== undefined) {
    const fresh = selectNew(waiting, sent.fresh)
    const followed = continueHead(state, waiting, { ...sent, raw: undefined, fresh })
    return { ...followed, is_only_new: true }
  }
  const related = findRelatedHead(state.heads, sent.fresh)
  if (related === undefined) return startOrReset(state, sent)
  const { head, aligned } = related
  if (isOtherAgent(head, sent.fresh, aligned)) return startOrReset(state, sent)
  const kind = nameBreak(state, head, { aligned, messages: sent.fresh })
  if (kind !== 'branch') return breakHistory(state, { head, kind, aligned }, sent)
  const { prefix } = aligned
  return startBranch(state, head, { ...sent, fresh: sent.fresh.slice(prefix), kept: prefix })
}

/**
 * Finds the head of which most messages were kept, system messages aside; the first head that lost
 * few messages is taken.
 */
function findRelatedHead(
  heads: readonly Head[],
  messages: readonly HistoryMessage[],
): RelatedHead | undefined {
  const reported = new Set(messages.map(({ digest }) => digest))
  let best: RelatedHead | undefined
  for (let at = heads.length - 1; at >= 0; at--) {
    const head = heads[at]
    if (head === undefined || !isKnownIn(head, reported, messages)) continue
    const aligned = alignHistories(head, messages)
    if (aligned.kept > (best?.aligned.kept ?? 0)) best = { head, aligned }
    if (aligned.kept > 0 && aligned.lost.length <= maxLostFew && head.left_by === undefined) break
  }
  return best
}

const maxLostFew = 4

function isKnownIn(
  head: Head,
  reported: ReadonlySet<string>,
  messages: readonly HistoryMessage[],
): boolean {
  if (head.digests.some((digest, at) => at >= head.systems && reported.has(digest))) return true
  return messages.some((message) => isAnswer(head.answer, message))
}

/**
 * Tells whether the history is another agent's: its system text differs and it contains no known
 * answer, so the agents share only the user's messages.
 */
function isOtherAgent(
  head: Head,
  messages: readonly HistoryMessage[],
  { at, lost }: Alignment,
): boolean {
  if (!lost.some((place) => place < head.systems)) return false
  return !messages.some(({ role }, index) => role === 'assistant' && at[index] !== -1)
}

type BrokenHead = { head: Head; kind: HistoryBreak['kind']; aligned: Alignment | undefined }

/** Continues a thread with a history that replaces its earlier one. */
function breakHistory(
  state: RunState,
  { head: left, kind, aligned }: BrokenHead,
  sent: SentHistory,
): FollowedHistory {
  const { raw, fresh, call } = sent
  if (left.left_by !== undefined) splitDetour(state, left.left_by)
  const { thread } = left
  const lost = aligned?.lost ?? [...left.ids.keys()].slice(left.systems)
  const reported = { thread, call, kind, lost: lost.map((place) => left.ids[place] ?? 0) }
  state.breaks.push(reported)
  leaveHead(state.heads, left, reported)
  const head = newHead(thread, call)
  head.raw = raw
  head.answer = left.answer
  useHead(state.heads, head)
  const answer = left.answer?.message ?? -1
  const known = Array.from(fresh, (_message, index) => {
    const place = aligned?.at[index] ?? -1
    return place === left.ids.length ? answer : (left.ids[place] ?? -1)
  })
  return { thread, head, fresh, known, is_first: false }
}

/**
 * Handles a history that keeps nothing of any earlier one: a reset of its agent or a new thread.
 */
function startOrReset(state: RunState, sent: SentHistory): FollowedHistory {
  const { row, raw, fresh, call } = sent
  const agent = findAgent(state, row)
  const latest = state.heads.findLast(({ left_by }) => left_by === undefined)
  const same = latest === undefined ? 'no' : compareAgents(state, latest, sent)
  if (latest !== undefined && same !== 'no') {
    const first = fresh.slice(0, maxSummaryAt + 1)
    const isCompacted = first.some((one) => isSummary(one) || isRestated(state, latest, one))
    const isWaiting = (state.lines[latest.thread]?.open.length ?? 0) > 0
    const kind = isCompacted ? 'compacted' : 'reset'
    if (!isWaiting || same === 'by_system') {
      return breakHistory(state, { head: latest, kind, aligned: undefined }, sent)
    }
  }
  splitOverlapped(state, row)
  const thread = findLaneWithoutHead(state, row) ?? startThread(state, row, agent.parent)
  setLane(state, agent.key, thread)
  const head = newHead(thread, call)
  head.raw = raw
  useHead(state.heads, head)
  return { thread, head, fresh, known: undefined, is_first: true }
}

/** Highest index of a summary: after the system texts and the user's first message. */
const maxSummaryAt = 2

/** Minimum calls of a thread to distinguish a reset from a start. */
const minResetCalls = 2

/**
 * Tells whether a history that shares nothing with the latest one still belongs to the same agent:
 * it follows the last answer within `reuse_ns`, and its system text is the same or missing.
 */
function compareAgents(
  state: RunState,
  latest: Head,
  { row, fresh }: SentHistory,
): 'by_system' | 'maybe' | 'no' {
  const thread = state.threads[latest.thread]
  if (thread === undefined || thread.calls.length < minResetCalls) return 'no'
  if (thread.agent_name !== row.agent_name) return 'no'
  if (row.start_time < latest.end_time || row.start_time - latest.end_time > reuse_ns) return 'no'
  const systems = fresh.filter(({ role }) => role === 'system')
  if (systems.length === 0) return 'maybe'
  const known = new Set(latest.digests.slice(0, latest.systems))
  return systems.some(({ digest }) => known.has(digest)) ? 'by_system' : 'no'
}

/** Splits a reset when another history starts during its first call: the agents ran in parallel. */
function splitOverlapped(state: RunState, row: Observation): void {
  const last = state.breaks.at(-1)
  if (last?.kind !== 'reset') return
  const call = state.calls[last.call]
  if (call !== undefined && row.start_time < call.end_time) splitDetour(state, last)
}

/** Returns the agent's thread if no history of that thread is known yet. */
function findLaneWithoutHead(state: RunState, row: Observation): number | undefined {
  const thread = state.lanes.get(findAgent(state, row).key)
  if (thread === undefined || state.heads.some((head) => head.thread === thread)) return undefined
  return thread
}

import { parsedJson } from '../../../kernel/json-values.ts'
import type { Observation } from '../../../model/observation.ts'
import { agentOf, laneThread, setLane } from './agent-lanes.ts'
import { type Alignment, alignHistories, prefixOf } from './align-histories.ts'
import type { HistoryBreak } from './contract.ts'
import { type Head, isAnswer, leaveHead, newHead, useHead } from './heads.ts'
import { isRestated, isSummary, nameBreak } from './name-break.ts'
import { readMessages, type ToldMessage } from './read-messages.ts'
import { newThread, type RunState } from './run-state.ts'
import { splitDetour } from './split-detour.ts'

/** Where a call's history belongs, and what of it was not told before. */
export type Followed = {
  thread: number
  /** Undefined when the call tells no history. */
  head: Head | undefined
  /** In order, what is to be put behind the head's messages. */
  fresh: readonly ToldMessage[]
  /** Of each fresh message its index in the run where it was told before, else -1. */
  known: readonly number[] | undefined
  /** True for the first history of a thread: it may begin long before the task. */
  is_first: boolean
}

/**
 * Finds the thread that a call goes on with. The text of a history that grew begins, but for its
 * last bracket, with the very text that was sent before: then only the rest is parsed. Else the
 * histories are compared message by message.
 */
export function followHistory(state: RunState, row: Observation, call: number): Followed {
  if (row.input === '') return withoutHistory(state, row)
  const raw = rawListOf(row.input)
  const longest = raw === undefined ? undefined : longestRaw(state.heads, raw)
  if (raw !== undefined && longest?.raw !== undefined) {
    const rest = restOf(raw, longest.raw)
    const fresh = rest === '' ? [] : readMessages(parsedJson(rest), 'user')
    return goOn(state, longest, { row, raw, fresh, call })
  }
  const messages = messagesOf(row)
  if (messages === undefined) return withoutHistory(state, row)
  const whole = { row, raw, fresh: messages, call }
  const compared = longestPrefix(state.heads, messages)
  if (compared !== undefined) {
    return goOn(state, compared, { ...whole, fresh: messages.slice(compared.ids.length) })
  }
  return breakOrBegin(state, whole)
}

type Sent = {
  row: Observation
  raw: string | undefined
  fresh: readonly ToldMessage[]
  call: number
}

function withoutHistory(state: RunState, row: Observation): Followed {
  const thread = laneThread(state, row)
  return { thread, head: undefined, fresh: [], known: undefined, is_first: false }
}

/** The text when it is a plain list of messages, which can be compared as text. */
function rawListOf(input: string): string | undefined {
  return input.startsWith('[{') && input.endsWith('}]') ? input : undefined
}

/** Undefined when the text was cut, so that nobody can read it. */
function messagesOf({ input, content_state }: Observation): ToldMessage[] | undefined {
  const isJson = input[0] === '[' || input[0] === '{' || input[0] === '"'
  const value = isJson ? parsedJson(input) : undefined
  if (value === undefined && content_state === 'truncated') return undefined
  return readMessages(value ?? input, 'user')
}

function longestRaw(heads: readonly Head[], raw: string): Head | undefined {
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
  // Two slices are compared as memory; startsWith goes character by character.
  return raw.slice(0, end) === sent.slice(0, end)
}

/** The messages behind those that were sent before, as a list. */
function restOf(raw: string, sent: string): string {
  return raw.length === sent.length ? '' : `[${raw.slice(sent.length)}`
}

function longestPrefix(heads: readonly Head[], messages: readonly ToldMessage[]): Head | undefined {
  let longest: Head | undefined
  for (const head of heads) {
    const { length } = head.digests
    if (length === 0 || length > messages.length || length < (longest?.ids.length ?? 0)) continue
    // Most that differ do so at their end already.
    if (head.digests[length - 1] !== messages[length - 1]?.digest) continue
    if (prefixOf(head.digests, messages) === length) longest = head
  }
  return longest
}

/** Two answers to one history are a branch, but for a call that failed and was made again. */
function goOn(state: RunState, head: Head, sent: Sent): Followed {
  const { row, raw, fresh, call } = sent
  const isAgain = fresh.length === 0 && (head.is_ok || row.start_time < head.end_time)
  if (isAgain) return branch(state, head, { ...sent, kept: head.ids.length })
  if (head.left_by !== undefined) splitDetour(state, head.left_by)
  useHead(state.heads, head)
  head.raw = raw
  head.call = call
  return { thread: head.thread, head, fresh, known: undefined, is_first: false }
}

/** A thread of its own that begins with the first messages of another's history. */
function branch(state: RunState, from: Head, sent: Sent & { kept: number }): Followed {
  const { row, raw, fresh, call, kept } = sent
  const { agent_name } = row
  const thread = newThread(state, { kind: 'branch', parent: from.thread, agent_name })
  const head = newHead(thread.index, call)
  head.raw = raw
  head.ids = from.ids.slice(0, kept)
  head.digests = from.digests.slice(0, kept)
  head.systems = Math.min(from.systems, kept)
  useHead(state.heads, head)
  return { thread: thread.index, head, fresh, known: undefined, is_first: false }
}

type Related = { head: Head; aligned: Alignment }

/** A history that goes on with none as it is: a break in a thread, or a thread of its own. */
function breakOrBegin(state: RunState, sent: Sent): Followed {
  const waiting = waitingHead(state, sent.fresh)
  if (waiting !== undefined) return goOn(state, waiting, { ...sent, raw: undefined })
  const related = relatedHead(state.heads, sent.fresh)
  if (related === undefined) return beginOrReset(state, sent)
  const { head, aligned } = related
  if (isOtherAgent(head, sent.fresh, aligned)) return beginOrReset(state, sent)
  const kind = nameBreak(state, head, { aligned, messages: sent.fresh })
  if (kind !== 'branch') return broken(state, { head, kind, aligned }, sent)
  const { prefix } = aligned
  return branch(state, head, { ...sent, fresh: sent.fresh.slice(prefix), kept: prefix })
}

/** Some clients send only what is new: the results of tools that a thread waits for. */
function waitingHead(state: RunState, messages: readonly ToldMessage[]): Head | undefined {
  const [first] = messages
  if (first?.role !== 'tool' || first.tool_call_id === '') return undefined
  return state.heads.findLast(({ thread }) =>
    state.lines[thread]?.open.some(
      (index) => state.tools[index]?.tool_call_id === first.tool_call_id,
    ),
  )
}

/** The head of which most was kept, beside what the system says; one that lost little is it. */
function relatedHead(
  heads: readonly Head[],
  messages: readonly ToldMessage[],
): Related | undefined {
  const told = new Set(messages.map(({ digest }) => digest))
  let best: Related | undefined
  for (let at = heads.length - 1; at >= 0; at--) {
    const head = heads[at]
    if (head === undefined || !isKnownIn(head, told, messages)) continue
    const aligned = alignHistories(head, messages)
    if (aligned.kept > (best?.aligned.kept ?? 0)) best = { head, aligned }
    if (aligned.kept > 0 && aligned.lost.length <= few_max && head.left_by === undefined) break
  }
  return best
}

const few_max = 4

function isKnownIn(
  head: Head,
  told: ReadonlySet<string>,
  messages: readonly ToldMessage[],
): boolean {
  if (head.digests.some((digest, at) => at >= head.systems && told.has(digest))) return true
  return messages.some((message) => isAnswer(head.answer, message))
}

/** Who is told otherwise by the system, and knows of no answer, only reads what the user said too. */
function isOtherAgent(
  head: Head,
  messages: readonly ToldMessage[],
  { at, lost }: Alignment,
): boolean {
  if (!lost.some((place) => place < head.systems)) return false
  return !messages.some(({ role }, index) => role === 'assistant' && at[index] !== -1)
}

type Break = { head: Head; kind: HistoryBreak['kind']; aligned: Alignment | undefined }

/** The thread goes on with another history than it had. */
function broken(state: RunState, { head: left, kind, aligned }: Break, sent: Sent): Followed {
  const { raw, fresh, call } = sent
  if (left.left_by !== undefined) splitDetour(state, left.left_by)
  const { thread } = left
  const lost = aligned?.lost ?? [...left.ids.keys()].slice(left.systems)
  const told = { thread, call, kind, lost: lost.map((place) => left.ids[place] ?? 0) }
  state.breaks.push(told)
  leaveHead(state.heads, left, told)
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

/** Nothing was kept of any history. */
function beginOrReset(state: RunState, sent: Sent): Followed {
  const { row, raw, fresh, call } = sent
  const agent = agentOf(state, row)
  const latest = state.heads.findLast(({ left_by }) => left_by === undefined)
  const same = latest === undefined ? 'no' : sameAgent(state, latest, sent)
  if (latest !== undefined && same !== 'no') {
    const first = fresh.slice(0, summaryAt_max + 1)
    const isCompacted = first.some((one) => isSummary(one) || isRestated(state, latest, one))
    const isWaiting = (state.lines[latest.thread]?.open.length ?? 0) > 0
    const kind = isCompacted ? 'compacted' : 'reset'
    if (!isWaiting || same === 'by_system') {
      return broken(state, { head: latest, kind, aligned: undefined }, sent)
    }
  }
  splitOverlapped(state, row)
  const thread = laneWithoutHead(state, row) ?? beginThread(state, row, agent.parent)
  setLane(state, agent.key, thread)
  const head = newHead(thread, call)
  head.raw = raw
  useHead(state.heads, head)
  return { thread, head, fresh, known: undefined, is_first: true }
}

/** Behind the texts of the system and the user's first. */
const summaryAt_max = 2
/** After so long a task's id was used for something else. */
const reuse_ns = 12n * 3_600n * 1_000_000_000n
/** With fewer calls there was nothing to be lost. */
const resetCalls_min = 2

/**
 * Tells whether a history that has nothing of the latest one is the same agent's nevertheless: it
 * came behind the last answer and not long after, and the system says the same or nothing.
 */
function sameAgent(
  state: RunState,
  latest: Head,
  { row, fresh }: Sent,
): 'by_system' | 'maybe' | 'no' {
  const thread = state.threads[latest.thread]
  if (thread === undefined || thread.calls.length < resetCalls_min) return 'no'
  if (thread.agent_name !== row.agent_name) return 'no'
  if (row.start_time < latest.end_time || row.start_time - latest.end_time > reuse_ns) return 'no'
  const systems = fresh.filter(({ role }) => role === 'system')
  if (systems.length === 0) return 'maybe'
  const known = new Set(latest.digests.slice(0, latest.systems))
  return systems.some(({ digest }) => known.has(digest)) ? 'by_system' : 'no'
}

/** Histories that begin while the first call of a reset runs: those were agents side by side. */
function splitOverlapped(state: RunState, row: Observation): void {
  const last = state.breaks.at(-1)
  if (last?.kind !== 'reset') return
  const call = state.calls[last.call]
  if (call !== undefined && row.start_time < call.end_time) splitDetour(state, last)
}

/** The thread of the agent, as long as nobody told its history. */
function laneWithoutHead(state: RunState, row: Observation): number | undefined {
  const thread = state.lanes.get(agentOf(state, row).key)
  if (thread === undefined || state.heads.some((head) => head.thread === thread)) return undefined
  return thread
}

function beginThread(state: RunState, row: Observation, parentAgent: string): number {
  const { agent_name } = row
  if (state.threads.length === 0) {
    return newThread(state, { kind: 'root', parent: null, agent_name }).index
  }
  const last = state.calls.at(-1)
  const isLate = last !== undefined && row.start_time - last.end_time > reuse_ns
  if (isLate) return newThread(state, { kind: 'root', parent: null, agent_name }).index
  const open = state.lines.findLastIndex((line) => line.open.length > 0)
  const parent = state.lanes.get(parentAgent) ?? (open === -1 ? null : open)
  return newThread(state, { kind: 'sub_agent', parent, agent_name }).index
}

import type { Observation } from '../../../model/observation.ts'
import { alignHistories, prefixOf } from './align-histories.ts'
import type { HistoryBreak } from './contract.ts'
import { type Head, heads_max, rawChars_max } from './heads.ts'
import { parsedJson } from './json-values.ts'
import { readMessages, type ToldMessage } from './read-messages.ts'
import { newThread, type RunState } from './run-state.ts'

/** Where a call's history belongs, and what of it was not told before. */
export type Followed = {
  thread: number
  head: Head
  /** In order; each that is known is told by its index in the run. */
  fresh: readonly ToldMessage[]
  /** True for the first history of a thread that left none: it may begin long before the task. */
  is_first: boolean
}

/**
 * Finds the thread that a call goes on with. The text of a history that grew begins, but for its
 * last bracket, with the very text that was sent before: then only the rest is parsed. Else the
 * histories are compared message by message.
 */
export function followHistory(state: RunState, row: Observation, call: number): Followed {
  const raw = rawListOf(row.input)
  const longest = raw === undefined ? undefined : longestHead(state.heads, raw)
  if (raw !== undefined && longest?.raw !== undefined) {
    const rest = restOf(raw, longest.raw)
    const fresh = rest === '' ? [] : readMessages(parsedJson(rest), 'user')
    return goOn(state, longest, { raw, fresh, call })
  }
  const messages = messagesOf(row.input)
  const compared = longestPrefix(state.heads, messages)
  if (compared !== undefined) {
    return goOn(state, compared, { raw, fresh: messages.slice(compared.ids.length), call })
  }
  return breakOrBegin(state, row, { raw, messages, call })
}

type Sent = { raw: string | undefined; fresh: readonly ToldMessage[]; call: number }
type Whole = { raw: string | undefined; messages: readonly ToldMessage[]; call: number }

/** The text when it is a plain list of messages, which can be compared as text. */
function rawListOf(input: string): string | undefined {
  return input.startsWith('[{') && input.endsWith('}]') ? input : undefined
}

function messagesOf(input: string): ToldMessage[] {
  if (input === '') return []
  const isJson = input[0] === '[' || input[0] === '{' || input[0] === '"'
  return readMessages((isJson ? parsedJson(input) : undefined) ?? input, 'user')
}

function longestHead(heads: readonly Head[], raw: string): Head | undefined {
  let longest: Head | undefined
  for (const head of heads) {
    const length = head.raw?.length ?? 0
    if (head.raw === undefined || length <= (longest?.raw?.length ?? 0)) continue
    if (isContinued(raw, head.raw)) longest = head
  }
  return longest
}

function isContinued(raw: string, sent: string): boolean {
  const end = sent.length - 1
  if (raw.length < sent.length) return false
  const next = raw[end]
  if (next !== ',' && (next !== ']' || raw.length > sent.length)) return false
  return raw.startsWith(sent.slice(0, end))
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
    if (prefixOf(head.digests, messages) === length) longest = head
  }
  return longest
}

function goOn(state: RunState, head: Head, { raw, fresh, call }: Sent): Followed {
  use(state, head)
  head.raw = raw
  head.call = call
  boundRaws(state.heads)
  return { thread: head.thread, head, fresh, is_first: false }
}

/** A history that goes on with none as it is: a break in a thread, or a thread of its own. */
function breakOrBegin(state: RunState, row: Observation, whole: Whole): Followed {
  const { messages, raw, call } = whole
  const related = state.heads.at(-1)
  const aligned = related && alignHistories(related, messages)
  if (related === undefined || aligned === undefined || aligned.kind === 'other') {
    const isRoot = state.threads.length === 0
    const { agent_name } = row
    const thread = newThread(state, { kind: isRoot ? 'root' : 'sub_agent', parent: null, agent_name })
    const head = newHead(thread.index, { raw, call })
    use(state, head)
    boundRaws(state.heads)
    return { thread: thread.index, head, fresh: messages, is_first: true }
  }
  const told: HistoryBreak = {
    thread: related.thread,
    call,
    kind: aligned.kind,
    lost: aligned.lost.map((at) => related.ids[at] ?? 0),
  }
  state.breaks.push(told)
  const head = newHead(related.thread, { raw, call })
  use(state, head)
  boundRaws(state.heads)
  return { thread: related.thread, head, fresh: messages, is_first: false }
}

function newHead(thread: number, { raw, call }: { raw: string | undefined; call: number }): Head {
  return {
    thread,
    raw,
    ids: [],
    digests: [],
    systems: 0,
    answer: undefined,
    call,
    end_time: 0n,
  }
}

/** Puts a head to the end: the first one is forgotten when there are too many. */
function use(state: RunState, head: Head): void {
  const at = state.heads.indexOf(head)
  if (at !== -1) state.heads.splice(at, 1)
  state.heads.push(head)
  if (state.heads.length > heads_max) state.heads.shift()
}

/** Beyond the bound the texts of those not used for long are dropped; digests remain. */
function boundRaws(heads: readonly Head[]): void {
  let chars = 0
  for (const head of heads.toReversed()) {
    chars += head.raw?.length ?? 0
    if (chars > rawChars_max) head.raw = undefined
  }
}

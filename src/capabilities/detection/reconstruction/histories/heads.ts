import type { HistoryBreak } from '../contract.ts'
import type { HistoryMessage } from '../reading/read-messages.ts'

/** The end of a history: the messages of the last call and the model's answer. */
export type Head = {
  thread: number
  /** JSON text as sent; undefined if it is not kept. */
  raw: string | undefined
  /** Messages as sent: indexes in the run, and digests. */
  ids: number[]
  digests: string[]
  /** Text of the last message, if it is the user's; '' otherwise. */
  prompt: string
  /** Number of leading system messages. */
  systems: number
  answer: HeadAnswer | undefined
  /** The call that sent it, its end, and whether it succeeded. */
  call: number
  end_time: bigint
  is_ok: boolean
  /** The provider's name of the last answer, and of the conversation that it holds; '' without. */
  response_id: string
  conversation: string
  /** The break at which its thread left this history; undefined while the thread continues it. */
  left_by: HistoryBreak | undefined
}

/** The model's answer, which the next history is expected to contain after the messages sent. */
type HeadAnswer = { message: number; reported: HistoryMessage }

/** Maximum remembered histories; the least recently used is dropped first. */
const heads_max = 64
/** Maximum remembered histories that one thread left. */
const maxLeftHeads = 4
/** Maximum characters of JSON text kept by all heads together. */
const maxRawChars = 1_000_000

/** Creates the head of an empty history. */
export function newHead(thread: number, call: number): Head {
  return {
    thread,
    raw: undefined,
    ids: [],
    digests: [],
    prompt: '',
    systems: 0,
    answer: undefined,
    call,
    end_time: 0n,
    is_ok: true,
    response_id: '',
    conversation: '',
    left_by: undefined,
  }
}

/** Moves a head to the end, the most recently used position, and enforces the limits. */
export function useHead(heads: Head[], head: Head): void {
  const at = heads.indexOf(head)
  if (at !== -1) heads.splice(at, 1)
  heads.push(head)
  if (heads.length > heads_max) heads.shift()
  let chars = 0
  for (let index = heads.length - 1; index >= 0; index--) {
    const one = heads[index]
    chars += (one?.raw?.length ?? 0) + (one?.prompt.length ?? 0)
    if (one !== undefined && chars > maxRawChars) {
      one.raw = undefined
      one.prompt = ''
    }
  }
}

/** Keeps the head of a history that its thread left, in case the history is continued later. */
export function leaveHead(heads: Head[], head: Head, by: HistoryBreak): void {
  head.left_by = by
  head.raw = undefined
  head.prompt = ''
  const left = heads.filter(({ thread, left_by }) => thread === head.thread && left_by)
  const [oldest] = left
  if (left.length > maxLeftHeads && oldest !== undefined) heads.splice(heads.indexOf(oldest), 1)
}

/** Tells whether a message of a history is the model's answer, in any convention. */
export function isAnswer(answer: HeadAnswer | undefined, reported: HistoryMessage): boolean {
  if (answer === undefined || reported.role !== 'assistant') return false
  const said = answer.reported
  if (said.digest === reported.digest) return true
  const ids = said.calls.map(({ id }) => id).filter((id) => id !== '')
  if (ids.length > 0) return reported.calls.some(({ id }) => ids.includes(id))
  if (said.calls.length !== reported.calls.length) return false
  if (said.calls.length > 0)
    return said.calls.every(({ sig }, at) => sig === reported.calls[at]?.sig)
  return said.text.trim() === reported.text.trim()
}

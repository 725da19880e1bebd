import type { HistoryBreak } from './contract.ts'
import type { HistoryMessage } from './read-messages.ts'

/** Where a history stands: what a call sent last, and what the model answered to it. */
export type Head = {
  thread: number
  /** The JSON text as it was sent; undefined when it is not held. */
  raw: string | undefined
  /** The messages as sent, by index of the run, and as digests. */
  ids: number[]
  digests: string[]
  /** Leading messages of the system. */
  systems: number
  answer: HeadAnswer | undefined
  /** The call that sent it, when that ended, and whether it ended well. */
  call: number
  end_time: bigint
  is_ok: boolean
  /** The break by which its thread left it; undefined while the thread goes on with it. */
  left_by: HistoryBreak | undefined
}

/** What a model answered; the next history should have it behind what was sent. */
export type HeadAnswer = { message: number; told: HistoryMessage }

/** Histories that are remembered; the one not used for the longest time goes first. */
export const heads_max = 64
/** Of those that one thread left. */
export const leftHeads_max = 4
/** Characters of JSON texts that heads hold together. */
export const rawChars_max = 1_000_000

export function newHead(thread: number, call: number): Head {
  return {
    thread,
    raw: undefined,
    ids: [],
    digests: [],
    systems: 0,
    answer: undefined,
    call,
    end_time: 0n,
    is_ok: true,
    left_by: undefined,
  }
}

/** Puts a head to the end, where the ones used last stand, and keeps the bounds. */
export function useHead(heads: Head[], head: Head): void {
  const at = heads.indexOf(head)
  if (at !== -1) heads.splice(at, 1)
  heads.push(head)
  if (heads.length > heads_max) heads.shift()
  let chars = 0
  for (let index = heads.length - 1; index >= 0; index--) {
    const one = heads[index]
    chars += one?.raw?.length ?? 0
    if (one !== undefined && chars > rawChars_max) one.raw = undefined
  }
}

/** A thread goes on otherwise: its head is remembered, in case the old line goes on after all. */
export function leaveHead(heads: Head[], head: Head, by: HistoryBreak): void {
  head.left_by = by
  head.raw = undefined
  const left = heads.filter(({ thread, left_by }) => thread === head.thread && left_by)
  const [oldest] = left
  if (left.length > leftHeads_max && oldest !== undefined) heads.splice(heads.indexOf(oldest), 1)
}

/** Tells whether a message of a history is what the model answered, however it is told. */
export function isAnswer(answer: HeadAnswer | undefined, told: HistoryMessage): boolean {
  if (answer === undefined || told.role !== 'assistant') return false
  const said = answer.told
  if (said.digest === told.digest) return true
  const ids = said.calls.map(({ id }) => id).filter((id) => id !== '')
  if (ids.length > 0) return told.calls.some(({ id }) => ids.includes(id))
  if (said.calls.length !== told.calls.length) return false
  if (said.calls.length > 0) return said.calls.every(({ sig }, at) => sig === told.calls[at]?.sig)
  return said.text.trim() === told.text.trim()
}

import type { ToldMessage } from './read-messages.ts'

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
  /** The call that sent it. */
  call: number
  end_time: bigint
}

/** What a model answered; the next history should have it behind what was sent. */
export type HeadAnswer = { message: number; told: ToldMessage }

/** Histories that are remembered; the one not used for the longest time goes first. */
export const heads_max = 64
/** Characters of JSON texts that heads hold together. */
export const rawChars_max = 4_000_000

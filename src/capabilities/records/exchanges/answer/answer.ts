import type { JsonObject } from '../../../../kernel/json-values.ts'

/** One choice of a model, in the shape of an unstreamed answer. */
export type AnswerChoice = {
  index: number
  finish_reason: string
  /** The message of a chat, or the text of a legacy completion. */
  message: JsonObject | string
}

/** A provider's answer, streamed or not, in one shape. */
export type Answer = {
  model: string
  /** The provider's name of the answer. */
  id: string
  choices: AnswerChoice[]
  /** The provider's own, unread usage object, if any. */
  usage: JsonObject | undefined
  /** The service tier that the answer states, unread. */
  service_tier: unknown
  /** Body or event that reports an error, for `providerErrorFrom`. */
  error: unknown
  /** Whether the answer is complete; for a stream, whether it has `[DONE]`. */
  done: boolean
  /** Number of pieces of a stream that were unreadable or beyond a limit. */
  dropped: number
  /** When the provider began the answer, in milliseconds since 1970, if it says so. */
  created_ms?: number
}

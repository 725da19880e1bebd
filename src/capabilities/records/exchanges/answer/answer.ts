import type { JsonObject } from '../../../../kernel/json-values.ts'

/** One choice of a model in the shape of an answer that was not streamed. */
export type AnswerChoice = {
  index: number
  finish_reason: string
  /** The message of a chat; for a legacy completion its text. */
  message: JsonObject | string
}

/** What a provider answered, streamed or not, in one shape. */
export type Answer = {
  model: string
  choices: AnswerChoice[]
  /** The provider's own usage object (not yet read), when it sent one. */
  usage: JsonObject | undefined
  /** The body or event that reports an error, for `providerErrorFrom`. */
  error: unknown
  /** Streams: true when the provider said that the answer is over. */
  done: boolean
  /** Pieces of a stream that could not be read, or were beyond a bound. */
  dropped: number
}

import type { AnswerUsage } from '../answer.ts'
import type { ErrorReply, ProviderName, StreamShape } from '../script.ts'

/** One provider's variant of the chat format: its ids, usage, errors and streams. */
export type Dialect = {
  provider: ProviderName
  /** Path prefix of the provider's base URL on this server; base URL + `/chat/completions`. */
  base_path: string
  /** Whether it has legacy completions. */
  legacy_completions: boolean
  /** Most choices of one request. */
  n_max: number
  /** Default form of tool calls in a stream. */
  stream_tool_calls: NonNullable<StreamShape['tool_calls']>
  /** Whether tool calls in a stream have an `index`; Gemini's do not. */
  indexes_tool_calls: boolean
  /** Position of requested usage: in a last chunk of its own, or in each chunk with choices. */
  stream_usage: 'own_chunk' | 'every_chunk'
  /** Whether role, text and finish reason have chunks of their own, as with OpenAI. */
  separate_ends: boolean
  completionId(seed: number): string
  toolCallId(seed: number, index: number): string
  /** Headers of each answer. */
  headers(seed: number): Record<string, string>
  /** Fields besides `id`, `object`, `created`, `model`, `choices`. */
  envelope: Record<string, unknown>
  /** Fields of each message and of the first delta. */
  message: Record<string, unknown>
  /** Fields of each choice. */
  choice: Record<string, unknown>
  toolCall(seed: number): Record<string, unknown>
  usage(usage: AnswerUsage): Record<string, unknown>
  error(error: ErrorReply): unknown
  /** Error for a missing or wrong key. */
  key_refused: Pick<ErrorReply, 'status' | 'message' | 'type' | 'code'>
}

import type { AnswerUsage } from '../answer.ts'
import type { ErrorReply, ProviderName, StreamShape } from '../script.ts'

/** How one provider speaks the chat format: what its ids, usage, errors and streams look like. */
export type Dialect = {
  provider: ProviderName
  /** Path prefix of the provider's base URL on this server; base URL + `/chat/completions`. */
  base_path: string
  /** Whether it has legacy completions. */
  legacy_completions: boolean
  /** The most choices it gives for one request. */
  n_max: number
  /** How tool calls come in a stream when the script does not say. */
  stream_tool_calls: NonNullable<StreamShape['tool_calls']>
  /** Tool calls in a stream carry `index`. Gemini's leave it out. */
  indexes_tool_calls: boolean
  /** When the usage is asked for: in a last chunk of its own, or in each chunk with choices. */
  stream_usage: 'own_chunk' | 'every_chunk'
  /** Role, text and finish reason come in chunks of their own, as OpenAI does it. */
  separate_ends: boolean
  completionId(seed: number): string
  toolCallId(seed: number, index: number): string
  /** Headers of each answer. */
  headers(seed: number): Record<string, string>
  /** Fields beside `id`, `object`, `created`, `model`, `choices`. */
  envelope: Record<string, unknown>
  /** Fields of each message and of the first delta. */
  message: Record<string, unknown>
  /** Fields of each choice. */
  choice: Record<string, unknown>
  toolCall(seed: number): Record<string, unknown>
  usage(usage: AnswerUsage): Record<string, unknown>
  error(error: ErrorReply): unknown
  /** What a missing or wrong key gets. */
  key_refused: Pick<ErrorReply, 'status' | 'message' | 'type' | 'code'>
}

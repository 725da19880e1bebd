import type { Outcome } from '../../src/model/observation.ts'

/** A message as a client of the chat format sends it. */
export type ChatMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
  refusal?: string
  tool_calls?: ChatToolCall[]
  tool_call_id?: string
}

export type ChatToolCall = {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** A tool as a request declares it; without `parameters` it takes any object. */
export type DeclaredToolOption = {
  name: string
  description?: string
  parameters?: Record<string, unknown>
}

/** The end of a call without a normal answer. */
export type CallError = {
  /** The HTTP status of the provider; 0 without one. */
  status?: number
  /** The provider's error code, such as `rate_limit_exceeded`. */
  type?: string
  message?: string
  outcome?: Exclude<Outcome, 'complete'>
}

/** One model call as it happened, before it was recorded. Times are nanoseconds since 1970. */
export type RecordedCall = {
  index: number
  agent: RecordedAgent
  start_time: bigint
  end_time: bigint
  /** The history that it sent. */
  messages: readonly ChatMessage[]
  /** The answer; undefined without one. */
  answer: ChatMessage | undefined
  finish_reason: string
  error: CallError | undefined
  streamed: boolean
  input_tokens: number
  output_tokens: number
}

/** One run of a tool on the client's side; only its own instrumentation sees it. */
export type RecordedTool = {
  index: number
  agent: RecordedAgent
  start_time: bigint
  end_time: bigint
  tool_call_id: string
  name: string
  arguments: string
  result: string
  failed: boolean
}

/** The main agent, or one that it started. */
export type RecordedAgent = { index: number; name: string; parent: number | null }

/** All events of a run, in order. */
export type RecordedRun = {
  name: string
  project_id: string
  task_id: string
  task_name: string
  conversation_id: string
  provider: string
  model: string
  declared: readonly DeclaredToolOption[]
  agents: readonly RecordedAgent[]
  calls: readonly RecordedCall[]
  tools: readonly RecordedTool[]
}

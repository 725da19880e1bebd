import type { Observation } from '../../../model/observation.ts'

/** Trace and observation ids of an observation. */
export type Place = { trace_id: string; observation_id: string }

/** How much of the content is available. Detectors report `not_checked` for what they lack. */
export type ContentState = 'full' | 'partial' | 'none'

/**
 * A tool as declared in a request: the first `description_chars_max` characters of its description, and
 * its JSON Schema, undefined if the request had none.
 */
export type DeclaredTool = {
  name: string
  description: string
  schema: Record<string, unknown> | undefined
}

/** Maximum characters of a description: its first sentence says what the tool does. */
export const description_chars_max = 200

/**
 * One model call, even if several instrumentations reported it. Times are nanoseconds since 1970;
 * unknown numbers are null.
 */
export type ModelCall = Place & {
  /** Index in `TaskRun.calls`, which is sorted by start. */
  index: number
  /** Thread of the call's history. */
  thread: number
  /** Step of the answer; null if no answer is known. */
  step: number | null
  start_time: bigint
  end_time: bigint
  provider: string
  model: string
  status: Observation['status']
  status_code: number
  outcome: Observation['outcome']
  error_type: string
  error_message: string
  finish_reason: string
  streamed: boolean
  /** Sum of uncached, cache-read and cache-write tokens. */
  input_tokens: number | null
  output_tokens: number | null
  /** The disjoint buckets of these sums, and their source. */
  tokens: CallTokens
  nano_dollars: bigint | null
  /** Time to the first token of a streamed answer. */
  time_to_first_token_ms: number | null
  content: ContentState
  /** Why content is missing, if it is. */
  content_state: Observation['content_state']
  /** Messages of the history as it is known, new ones included; null without a history. */
  history_messages: number | null
  /** True if the call sent only new messages, because the provider holds the others. */
  is_only_new?: boolean
  /** Tools declared in the request; undefined if it did not list them or content is off. */
  tools: readonly DeclaredTool[] | undefined
  /** The failed call just before with the same request; null if this call is not a retry. */
  retry_of: number | null
}

/** Disjoint buckets of the tokens of a call; null where unknown. */
export type CallTokens = Pick<
  Observation,
  | 'input_uncached_tokens'
  | 'cache_read_tokens'
  | 'cache_write_tokens'
  | 'output_visible_tokens'
  | 'reasoning_tokens'
  | 'usage_source'
>

const messageRoles = ['system', 'user', 'assistant', 'tool'] as const

/** A message, listed once: at the call whose history first contained it, or as a model's answer. */
export type Message = {
  /** Index in `TaskRun.messages`, in the order first reported. */
  index: number
  role: (typeof messageRoles)[number]
  /** Texts of the message, joined and cut to `text_chars_max`. */
  text: string
  /** Characters of the whole text, if it was cut. */
  chars?: number
  /** Index of the tool use whose result this is, for a tool message of the run. */
  tool?: number
  thread: number
  /** The call whose history first contained it, or that answered with it. */
  call: number
  /** Step of this message if it is an observed answer of the model; otherwise null. */
  step: number | null
  /** True for a text in the user's name that the agent's harness wrote. */
  is_harness?: boolean
}

/** Kinds of failure of a tool use. */
export type ToolFault = 'outage' | 'error'

/** One tool call with its result, joined across model calls. Texts are cut to `text_chars_max`. */
export type ToolUse = {
  /** Index in `TaskRun.tools`, in the order asked. */
  index: number
  /** Id given by the model or the client; '' if neither gave one. */
  tool_call_id: string
  name: string
  thread: number
  /** Step that asked for the tool; null if it was not observed. */
  step: number | null
  /** Arguments as the model wrote them; null if content is off. */
  arguments: string | null
  /** Characters of the whole arguments and of the whole result, if they were cut. */
  arguments_chars?: number
  result_chars?: number
  /** True for arguments that arrived complete and are not valid JSON. */
  arguments_broken: boolean
  /** Digest of name and canonical arguments; null if the arguments are unknown. */
  sig: string | null
  /** null: no result yet, or content is off (see `is_answered`). */
  result: string | null
  is_answered: boolean
  /** Digest of the result with volatile tokens masked; null without a text. */
  out: string | null
  /** Text of the result with volatile tokens masked, cut; null without a text. */
  masked: string | null
  /** null: the use succeeded, or its outcome is unknown (`is_answered` is false). */
  fault: ToolFault | null
  /** True for a fault that only the first words of an output suggest: no status, no exit code. */
  is_guessed?: boolean
  asked_at: bigint
  answered_at: bigint | null
  /**
   * Milliseconds from the end of the asking call, or the start of the tool's own span, to the
   * result.
   */
  latency_ms: number | null
  asked_by: Place
  /** Start of the asking observation; orders uses that were asked at the same instant. */
  asked_from: bigint
  /**
   * The observation that ran the tool, otherwise the model call whose history first had the result.
   */
  answered_by: Place | null
  /** `call`: no result came although the thread continued. `result`: no call asked for it. */
  orphan: 'call' | 'result' | null
  /** `text`: the agent wrote the use as text, as ReAct agents do; undefined for calls of an API. */
  read_from?: 'text'
}

/** One answer of the model. Its parallel tool calls are one step. */
export type Step = {
  /** Index in `TaskRun.steps`, in order of time. */
  index: number
  thread: number
  call: number
  /** Text of the answer, cut to `text_chars_max`; null if content is off. */
  text: string | null
  /** Characters of the whole text, if it was cut. */
  chars?: number
  /** The model's reasoning, cut to `reasoning_chars_max`; only if the run keeps it. */
  reasoning?: { text: string; chars: number }
  /** Text of the answer's `refusal` field, cut like `text`; undefined if absent. */
  refusal?: string
  /** Indexes in `TaskRun.tools`, in the order asked. */
  tools: readonly number[]
  /**
   * Order-independent digest of the tools' `sig`; null without tools or if one `sig` is unknown.
   */
  sig: string | null
  /** True if a person sent a message since the previous step of the thread. */
  after_user: boolean
  /** True if the stream was cut before the provider finished. */
  is_partial: boolean
}

/** A line of history: each call re-sends the messages of the previous call and adds to them. */
export type Thread = {
  index: number
  /** Thread that this branch left, or the parent of a sub-agent if known. */
  parent: number | null
  /** `root`, `branch` (of an edited history), `sub_agent` (another history in parallel). */
  kind: 'root' | 'branch' | 'sub_agent'
  agent_name: string
  /** True if the provider holds a part of its history that no call of the task has. */
  is_held?: boolean
  /** Indexes of the thread's steps and calls, in order. */
  steps: readonly number[]
  calls: readonly number[]
}

/** A history that does not start like the previous history of its thread. */
export type HistoryBreak = {
  thread: number
  /** First call with the changed history. */
  call: number
  /**
   * `compacted`: older messages were replaced by a shorter text; `truncated`: older messages are
   * missing; `edited`: a message was changed; `reset`: nothing of the history is left.
   */
  kind: 'compacted' | 'truncated' | 'edited' | 'reset'
  /** Indexes in `TaskRun.messages` of the missing messages. */
  lost: readonly number[]
}

/** The observations of a task in order: the input of every detector. Immutable. */
export type TaskRun = {
  project_id: string
  task_id: string
  conversation_id: string
  /** State in the task's record; undefined counts as running. */
  state?: 'running' | 'completed' | 'failed'
  content: ContentState
  calls: readonly ModelCall[]
  messages: readonly Message[]
  steps: readonly Step[]
  tools: readonly ToolUse[]
  threads: readonly Thread[]
  breaks: readonly HistoryBreak[]
  /** Further records of calls, which count once, by the observation id of the call. */
  further_records: ReadonlyMap<string, readonly Place[]>
  /** Parts that a limit left out, as sentences; empty if the run is complete. */
  left_out: readonly string[]
}

/** Maximum characters of a text in a run; digests cover the whole text. */
export const text_chars_max = 16_384

/** Maximum characters of the reasoning of an answer, and of all answers of a run. */
export const reasoning_chars_max = 8_192
export const reasoning_chars_sum_max = 4_000_000

/** Parts of a run that detectors do not read; left out by default. */
export type ReconstructionOptions = { keeps_reasoning?: boolean }

/** Identity of the task that all observations belong to. */
export type TaskIdentity = { project_id: string; task_id: string; conversation_id: string }

/** Rows of the task beside those that are added. */
export type KnownRows = {
  /** Rows that began calls in the background of the added ones. They are added before or after. */
  beside?: readonly Observation[]
  /** All rows of the task are being added, in the order of their starts, so that no rebuild can know more. */
  is_whole?: boolean
}

/** Orders a task's observations as they arrive. */
export type Reconstruction = {
  /**
   * Adds rows and skips known ones. `rebuild`: a row starts before an added row, or differs from
   * its first report. Then no row is added, and the caller starts a new reconstruction with all
   * rows.
   */
  add(rows: readonly Observation[], known?: KnownRows): 'added' | 'rebuild'
  /**
   * Returns the run so far. Unchanged objects keep their identity, so results can be cached by
   * them; lists grow with the next `add`.
   */
  run(): TaskRun
  /** Approximate upper bound of the memory held, in bytes. */
  bytes(): number
}

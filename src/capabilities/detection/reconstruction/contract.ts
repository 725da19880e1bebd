import type { Observation } from '../../../model/observation.ts'

/** Where an observation is found. */
export type Place = { trace_id: string; observation_id: string }

/** How much of what was said is at hand: with less, a detector says what it could not check. */
export type ContentState = 'full' | 'partial' | 'none'

/** A tool as a request declared it; `schema` is its JSON Schema, undefined where none came. */
export type DeclaredTool = { name: string; schema: Record<string, unknown> | undefined }

/**
 * A model call that happened, once, however many instrumentations told of it. Times are nanoseconds
 * since 1970; numbers that nobody knows are null.
 */
export type ModelCall = Place & {
  /** Its place in `TaskRun.calls`, which are ordered by start. */
  index: number
  /** The thread that its history belongs to. */
  thread: number
  /** The step that it answered with; null when no answer is known. */
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
  /** Uncached, read from and written to the cache together. */
  input_tokens: number | null
  output_tokens: number | null
  nano_dollars: bigint | null
  content: ContentState
  /** The tools of its request; undefined when the request did not tell (or content is off). */
  tools: readonly DeclaredTool[] | undefined
  /** The failed call just before it that asked the same, null when it is no retry. */
  retry_of: number | null
}

export const messageRoles = ['system', 'user', 'assistant', 'tool'] as const

/** A message, told once: where a history first brought it, or where a model answered with it. */
export type Message = {
  /** Its place in `TaskRun.messages`, in the order in which they were first told. */
  index: number
  role: (typeof messageRoles)[number]
  /** Its texts joined; cut to `text_chars_max`. */
  text: string
  thread: number
  /** The call that first brought it, or that answered with it. */
  call: number
  /** The step that it is, for an answer of the model that was seen; else null. */
  step: number | null
}

/** How a tool's use ended, as far as it can be told. */
export type ToolFault = 'outage' | 'error'

/** One call of a tool with its result, joined across model calls. Texts are cut to `text_chars_max`. */
export type ToolUse = {
  /** Its place in `TaskRun.tools`, in the order asked. */
  index: number
  /** As the model or the client named the call; '' when nobody did. */
  tool_call_id: string
  name: string
  thread: number
  /** The step that asked for it; null when that was not seen. */
  step: number | null
  /** What the model wrote; null when content is off. */
  arguments: string | null
  /** True when `arguments` is text that no JSON parser takes (and was not cut before it came). */
  arguments_broken: boolean
  /** Digest of name and canonical arguments; null when the arguments are not known. */
  sig: string | null
  /** null: no result came yet, or its content is off (see `is_answered`). */
  result: string | null
  is_answered: boolean
  /** Digest of the result with volatile tokens masked; null when there is no text to digest. */
  out: string | null
  /** The result's text with volatile tokens masked, cut; null as `out`. */
  masked: string | null
  /** null: it went well, or nobody can tell (`is_answered` false). */
  fault: ToolFault | null
  asked_at: bigint
  answered_at: bigint | null
  /** From the end of the asking call (or the start of the tool's own span) to the result. */
  latency_ms: number | null
  asked_by: Place
  /** The start of that observation: it orders those that asked at one instant. */
  asked_from: bigint
  /** The observation that ran the tool, else the model call that first brought its result. */
  answered_by: Place | null
  /** `call`: no result came though the thread went on. `result`: nobody asked for it. */
  orphan: 'call' | 'result' | null
}

/** One answer of the model. Parallel tool calls in it are one step. */
export type Step = {
  /** Its place in `TaskRun.steps`, in the order of time. */
  index: number
  thread: number
  call: number
  /** Its text, cut to `text_chars_max`; null when content is off. */
  text: string | null
  /** What it wrote where an answer's `refusal` stands, cut as `text`; undefined when nothing. */
  refusal?: string
  /** Indexes of `TaskRun.tools`, in the order asked. */
  tools: readonly number[]
  /** Digest of the sigs of its tools, in any order; null without tools, or when one is not known. */
  sig: string | null
  /** A message of the user stands between the step before in its thread and this one. */
  after_user: boolean
  /** Its stream ended before the provider said so. */
  is_partial: boolean
}

/** A line of history: calls that each re-send what the one before had, and add to it. */
export type Thread = {
  index: number
  /** The thread that it left, for a branch or a sub-agent whose parent is known. */
  parent: number | null
  /** `root`, `branch` (an edited history), `sub_agent` (another history side by side). */
  kind: 'root' | 'branch' | 'sub_agent'
  agent_name: string
  /** Indexes of steps and calls, in order. */
  steps: readonly number[]
  calls: readonly number[]
}

/** A history that did not begin as the one before it in its thread did. */
export type HistoryBreak = {
  thread: number
  /** The call whose history broke the prefix. */
  call: number
  /**
   * `compacted`: older messages were replaced by a shorter text of them; `truncated`: older ones
   * are gone; `edited`: one was changed; `reset`: nothing is left of the history.
   */
  kind: 'compacted' | 'truncated' | 'edited' | 'reset'
  /** Indexes of `TaskRun.messages` that are gone. */
  lost: readonly number[]
}

/** What a task's observations tell, put in order: the input of every detector. Nothing of it changes. */
export type TaskRun = {
  project_id: string
  task_id: string
  conversation_id: string
  /** Where the task's record stands; undefined when nobody told, which counts as running. */
  state?: 'running' | 'completed' | 'failed'
  content: ContentState
  calls: readonly ModelCall[]
  messages: readonly Message[]
  steps: readonly Step[]
  tools: readonly ToolUse[]
  threads: readonly Thread[]
  breaks: readonly HistoryBreak[]
  /** What a bound left out of the reconstruction, in words; empty when nothing. */
  left_out: readonly string[]
}

/** Texts in a run are cut to this; digests are of the whole text. */
export const text_chars_max = 16_384

/** What a reconstruction is told beside the observations: they all belong to this task. */
export type RunAbout = { project_id: string; task_id: string; conversation_id: string }

/** Puts a task's observations in order, as they come. */
export type Reconstruction = {
  /**
   * Takes rows; those it has are passed over. `rebuild`: one starts before a row that was taken, or
   * tells anew what was taken. Then none of them is taken, and the caller begins a new
   * reconstruction with all rows of the task.
   */
  add(rows: readonly Observation[]): 'added' | 'rebuild'
  /**
   * What is known so far. The objects in it are the same as before while nothing of them changed,
   * so what was computed of one can be kept by it; the lists grow with the next `add`.
   */
  run(): TaskRun
  /** The memory it holds, in bytes, at most and about: for the bound of whoever keeps many. */
  bytes(): number
}

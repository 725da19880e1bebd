import type { Observation, ToolCall, ToolResult } from '../../model/observation.ts'

/**
 * The port to the store of observations. Every answer is exact while duplicates of an observation
 * still lie side by side, and no call sees another project. Times are nanoseconds since 1970.
 * Rejects with problem('store_unavailable') when the store is out of reach or too slow.
 */
export type ObservationStore = {
  /**
   * Writes a batch, of any projects; resolves once the rows are durable. When it rejects, any part
   * of the batch may be stored, and repeating it is right: the same observation (project, start,
   * trace, observation id) is read once, however often it was written; the later write wins.
   * `token` names the batch, so that a cluster need not even store the repeated one. A repeated
   * observation has to keep its task and conversation.
   */
  insert(observations: readonly Observation[], options: { token: string }): Promise<void>
  /** One roll-up for each task that has observations, in no order. At most 1,000 tasks a call. */
  taskRollups(projectId: string, tasks: readonly TaskHint[]): Promise<TaskRollup[]>
  /** One for each conversation that has observations, in no order. At most 1,000 a call. */
  conversationRollups(
    projectId: string,
    conversations: readonly ConversationHint[],
  ): Promise<ConversationRollup[]>
  /** Ordered by start_time, observation_id; without the content columns. */
  taskObservations(projectId: string, taskId: string, page: TaskPage): Promise<TimelineRow[]>
  /** The traces of a conversation, ordered by the start of their first observation, trace_id. */
  conversationTraces(
    projectId: string,
    conversationId: string,
    page: TracePage,
  ): Promise<TraceSummary[]>
  /** Counts up to `limit`; more than that reads as `limit`. */
  countConversationTraces(
    projectId: string,
    conversationId: string,
    window: TimeWindow & { limit: number },
  ): Promise<number>
  observation(projectId: string, ids: ObservationIds): Promise<Observation | undefined>
  /** Ordered by start_time, observation_id; with content. */
  traceObservations(projectId: string, trace: TraceLookup): Promise<Observation[]>
  /**
   * Which observations tasks have, and which version of each is the latest: without content, so
   * that what a reader has already is not read again. Ordered by task_id, start_time,
   * observation_id, trace_id. At most 250 tasks a call.
   */
  taskVersions(projectId: string, asked: VersionsAsked): Promise<ObservationVersion[]>
  /** The latest versions of these, with content, in no order. At most `identities_max` a call. */
  observationsAt(projectId: string, ids: readonly ObservationIdentity[]): Promise<Observation[]>
}

/** What makes rows versions of one observation. */
export type ObservationIdentity = { start_time: bigint; trace_id: string; observation_id: string }

/** Identities of one call. */
export const identities_max = 1_000

/** A version of an observation: one that was sent again has another `message_id`. */
export type ObservationVersion = ObservationIdentity & {
  task_id: string
  type: Observation['type']
  message_id: string
  user_id: string
  /** When the store took it, by its own clock; milliseconds since 1970. */
  stored_at_ms: number
  /** What a proxied call's bodies had; 0 where nobody told. */
  body_bytes: number
}

export type VersionsAsked = {
  tasks: readonly TaskHint[]
  /** Only versions that the store took at or after this instant; milliseconds since 1970. */
  stored_from_ms?: number
  /** The last row of the page before. */
  after?: ObservationIdentity & { task_id: string }
  /** Rows, at most 10,000. */
  limit: number
}

/** From inclusive, to exclusive; left out, that side is open. */
export type TimeWindow = { from?: bigint; to?: bigint }

/**
 * `from` is a lower bound of the first observation's start_time, so that older parts are not read:
 * give the earliest start that is known. A batch is read from its lowest `from`.
 */
export type TaskHint = { task_id: string; from: bigint }
export type ConversationHint = { conversation_id: string; from: bigint }

/** A position in a list that is ordered by start, then id. */
export type TimePosition<Id extends string> = { start_time: bigint } & Record<Id, string>

export type TaskPage = TimeWindow & {
  /** The last row of the page before. */
  after?: TimePosition<'observation_id'>
  /** Rows, at most 10,000. */
  limit: number
}

export type TracePage = TimeWindow & {
  after?: TimePosition<'trace_id'>
  order: 'asc' | 'desc'
  limit: number
}

/** The window, where the caller knows one, spares reading other parts. */
export type ObservationIds = { trace_id: string; observation_id: string } & TimeWindow
export type TraceLookup = { trace_id: string; limit: number } & TimeWindow

/**
 * Sums over model calls (types generation and embedding): what an agent or a chain reports repeats
 * its children. Tokens that nobody counted add 0; `estimated_calls` says how many were estimated.
 */
export type CallSums = {
  calls: number
  /** Calls whose status is `error`. */
  errors: number
  cancelled: number
  input_uncached_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_visible_tokens: number
  reasoning_tokens: number
  total_tokens: number
  /** Calls whose usage was estimated by us. */
  estimated_calls: number
  /** Exact decimal USD of the priced calls, up to 9 digits after the point. */
  cost_usd: string
  /** Calls without a known cost. */
  unpriced_calls: number
  /** Distinct models as answered (else as requested), sorted; at most 100. */
  models: string[]
  /** Distinct, sorted; at most 100. */
  providers: string[]
}

/** Start of the first and end of the last observation, of any type. */
export type Span = { first_start: bigint; last_end: bigint }

/** Names and ids are the latest non-empty ones, '' when there is none. */
export type TaskRollup = CallSums &
  Span & {
    task_id: string
    /** Observations of any type. */
    observations: number
    traces: number
    name: string
    user_id: string
    conversation_id: string
    environment: string
    release: string
    /** True while no observation of the task came with an X-Task-ID of its own. */
    implicit: boolean
    /** Start of the last observation. */
    last_start: bigint
    /** Of each observation, in no order; undefined when they are more than `fingerprints_max`. */
    fingerprints: number[] | undefined
  }

export type ConversationRollup = CallSums &
  Span & {
    conversation_id: string
    external_id: string
    user_id: string
    observations: number
    tasks: number
    traces: number
  }

export type TraceSummary = CallSums & {
  trace_id: string
  start_time: bigint
  end_time: bigint
  observations: number
  task_id: string
  /** The name of the root, else of the first observation. */
  name: string
  /** `error` when any observation has it, else `cancelled` when any has it, else `ok`. */
  status: Observation['status']
}

/** An observation as a timeline needs it: everything but what was said. */
export type TimelineRow = Omit<Observation, 'input' | 'output' | 'tool_calls' | 'tool_results'> & {
  tool_calls: ToolCall[]
  tool_results: ToolResult[]
}

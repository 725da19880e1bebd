import type { Observation, ToolCall, ToolResult } from '../../model/observation.ts'
import type {
  EventCount,
  EventCountsAsked,
  GenAiEvent,
  GenAiEventsAsked,
  ObservationIdentity,
  OwnerChange,
  RowsToErase,
  StoredHead,
  TraceHeads,
} from './trace-contract.ts'

export type { ObservationIdentity }

/**
 * The port to the store of observations. Answers are exact even while several versions of an
 * observation are stored, and no call reads another project. Times are nanoseconds since 1970.
 * Rejects with problem('store_unavailable') when the store is unavailable or too slow.
 */
export type ObservationStore = {
  /**
   * Writes a batch of any projects. Resolves when the rows are durable. After a rejection any part
   * of the batch may be stored, and it is safe to repeat the call: an observation (project, start,
   * trace, observation id) written several times is read once, in its latest version. `token` names
   * the batch, so that the store can skip a repeated one. An observation that is written again must
   * keep its task and conversation.
   */
  insert(observations: readonly Observation[], options: { token: string }): Promise<void>
  /** Returns a roll-up of each task with observations, in no order. At most 1,000 tasks. */
  taskRollups(projectId: string, tasks: readonly TaskHint[]): Promise<TaskRollup[]>
  /** Returns a roll-up of each conversation with observations, in no order. At most 1,000. */
  conversationRollups(
    projectId: string,
    conversations: readonly ConversationHint[],
  ): Promise<ConversationRollup[]>
  /**
   * Returns observations without the content columns, ordered by start_time, observation_id, or in
   * the opposite order.
   */
  taskObservations(projectId: string, taskId: string, page: TaskPage): Promise<TimelineRow[]>
  /**
   * Returns the first observations of a task, in an order of start_time, observation_id, that name
   * one of these tool calls: as requests, as results or as runs of a tool.
   */
  taskToolRows(projectId: string, taskId: string, asked: ToolRowsAsked): Promise<TimelineRow[]>
  /** Returns sums over the observations of a task that a timeline shows, each of them once. */
  taskSums(
    projectId: string,
    taskId: string,
    window: TimeWindow & { signal?: AbortSignal },
  ): Promise<TimelineSums>
  /** Returns a conversation's traces, ordered by their first start, trace_id. */
  conversationTraces(
    projectId: string,
    conversationId: string,
    page: TracePage,
  ): Promise<TraceSummary[]>
  /** Counts traces up to `limit`; larger counts are capped. */
  countConversationTraces(
    projectId: string,
    conversationId: string,
    window: TimeWindow & { limit: number },
  ): Promise<number>
  observation(projectId: string, ids: ObservationIds): Promise<Observation | undefined>
  /** Returns observations ordered by start_time, observation_id, with content. */
  traceObservations(projectId: string, trace: TraceLookup): Promise<Observation[]>
  /**
   * Returns the latest version of each observation of tasks, without content, so that a reader can
   * skip the versions that it has. Ordered by task_id, start_time, observation_id, trace_id. At
   * most 250 tasks.
   */
  taskVersions(projectId: string, asked: VersionsAsked): Promise<ObservationVersion[]>
  /**
   * Returns the latest versions of observations, with content, in no order. At most
   * `identities_max`.
   */
  observationsAt(
    projectId: string,
    ids: readonly ObservationIdentity[],
    signal?: AbortSignal,
  ): Promise<Observation[]>
  /**
   * Returns the events of OpenTelemetry's GenAI conventions that have a body, ordered by trace_id,
   * observation_id, time. Traces and ids are selected apart, so there can be events of others.
   */
  genAiEvents(projectId: string, asked: GenAiEventsAsked): Promise<GenAiEvent[]>
  /**
   * Counts events by observation; observations without events are left out. Traces and ids are
   * selected apart, so there can be counts of others.
   */
  eventCounts(projectId: string, asked: EventCountsAsked): Promise<EventCount[]>
  /**
   * Returns the heads of the observations of traces, each in its latest version, ordered by
   * trace_id, start_time, observation_id.
   */
  traceHeads(projectId: string, asked: TraceHeads): Promise<StoredHead[]>
  /**
   * Gives observations other owners, or other rows that count them, in all of their versions. Resolves when reads see the change.
   * After a rejection any of them may be changed, and it is safe to repeat the call.
   */
  setOwners(projectId: string, changes: readonly OwnerChange[]): Promise<void>
  /** Erases exactly these observations, in all of their versions; safe to repeat. */
  eraseRows(projectId: string, asked: RowsToErase): Promise<void>
}

/** Maximum identities of one call. */
export const identities_max = 1_000

/** A version of an observation. Each time it is sent it gets another `message_id`. */
export type ObservationVersion = ObservationIdentity & {
  task_id: string
  type: Observation['type']
  message_id: string
  /** It may change without another `message_id`. */
  counted_with: string
  user_id: string
  /** Time of storage by the store's clock, in milliseconds since 1970. */
  stored_at_ms: number
  /** Bytes of a proxied call's bodies; 0 if unknown. */
  body_bytes: number
}

export type VersionsAsked = {
  tasks: readonly TaskHint[]
  /** Returns only versions stored at or after this instant, in milliseconds since 1970. */
  stored_from_ms?: number
  /** The last row of the page before. */
  after?: ObservationIdentity & { task_id: string }
  /** Rows, at most 10,000. */
  limit: number
}

/** A time range: `from` inclusive, `to` exclusive; open without them. */
export type TimeWindow = { from?: bigint; to?: bigint }

/** A time window whose open sides may also be undefined. */
export type OpenWindow = { [Side in keyof TimeWindow]: TimeWindow[Side] | undefined }

/**
 * A task and a lower bound of its first start_time, which spares reading older parts. Give the
 * earliest known start. A batch is read from its lowest `from`.
 */
export type TaskHint = { task_id: string; from: bigint }

export type ConversationHint = { conversation_id: string; from: bigint }

/** A position in a list ordered by start, then id. */
export type TimePosition<Id extends string> = { start_time: bigint } & Record<Id, string>

export type TaskPage = TimeWindow & {
  /** The last row of the page before. */
  after?: TimePosition<'observation_id'>
  /** `asc` by default; `desc` has no `after`. */
  order?: 'asc' | 'desc'
  /** Returns only observations that end at or after this instant. */
  ends_from?: bigint
  /** Rows, at most 10,000. */
  limit: number
  /** Stops the read in the store. */
  signal?: AbortSignal
}

/** Tool calls by the ids that a model or a client gave them, at most 1,000. */
export type ToolRowsAsked = TimeWindow & {
  tool_call_ids: readonly string[]
  /** `asc` by default. */
  order?: 'asc' | 'desc'
  limit: number
  signal?: AbortSignal
}

/** Sums over a part of a task. */
export type TimelineSums = {
  /** Model calls. */
  calls: number
  errors: number
  total_tokens: number
  /** Exact cost of the priced calls in nano-dollars. */
  nano_dollars: bigint
  /** Start of the first and of the last one; undefined without any. */
  first_start: bigint | undefined
  last_start: bigint | undefined
  /** Latest end of those that do not enclose others; undefined without any. */
  last_end: bigint | undefined
}

export type TracePage = TimeWindow & {
  after?: TimePosition<'trace_id'>
  order: 'asc' | 'desc'
  limit: number
}

/** The ids of an observation. A window, if known, spares reading other parts. */
export type ObservationIds = { trace_id: string; observation_id: string } & TimeWindow

export type TraceLookup = { trace_id: string; limit: number } & TimeWindow

/**
 * Sums over model calls (types generation and embedding); agents and chains repeat the usage of
 * their calls. Unknown token counts add 0; `estimated_calls` counts calls with estimated tokens.
 */
export type CallSums = {
  calls: number
  /** Rows of calls that another row counts. */
  merged_calls: number
  /** Calls whose status is `error`. */
  errors: number
  cancelled: number
  input_uncached_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_visible_tokens: number
  reasoning_tokens: number
  total_tokens: number
  /** Calls with usage estimated by Looptrace. */
  estimated_calls: number
  /** Exact cost of the priced calls: decimal USD, up to 9 digits after the point. */
  cost_usd: string
  /** Calls without a known cost. */
  unpriced_calls: number
  /** Calls with a cost in which parts have no rate of their own. */
  partially_priced_calls: number
  /** Distinct models that answered (else were requested), sorted; at most 100. */
  models: string[]
  /** Distinct, sorted; at most 100. */
  providers: string[]
}

/** Start of the first and end of the last observation, of any type. */
type Span = { first_start: bigint; last_end: bigint }

/** A roll-up of a task. Names and ids are the latest non-empty ones, else ''. */
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
    cluster_name: string
    /** Whether no observation of the task had an X-Task-ID. */
    implicit: boolean
    /** Start of the last observation. */
    last_start: bigint
    /** Fingerprints of all observations, in no order; undefined above `fingerprints_max`. */
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
  /** `error` if any observation has it, else `cancelled` if any has it, else `ok`. */
  status: Observation['status']
}

/** An observation of a timeline, without input and output. */
export type TimelineRow = Omit<Observation, 'input' | 'output' | 'tool_calls' | 'tool_results'> & {
  tool_calls: ToolCall[]
  tool_results: ToolResult[]
}

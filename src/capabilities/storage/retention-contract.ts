import type { RecordKind } from './record-contract.ts'

/**
 * Rows of one kind and project, in a window of their own time (nanoseconds since 1970: `from`
 * inclusive, `to` exclusive). Absent conditions match all rows.
 */
export type RetentionSlice = {
  project_id: string
  kind: RecordKind
  from: bigint
  to: bigint
  /** Selects only rows of these environments. For kinds without one, give `trace_ids` instead. */
  environments?: readonly string[]
  /** Selects only rows of these traces; at most `maxRetentionIds`. */
  trace_ids?: readonly string[]
  /** Never selects rows of these held traces; at most `maxRetentionIds`. */
  held_trace_ids: readonly string[]
  /** Selects only rows stored before this instant, in milliseconds since 1970. */
  stored_before_ms?: number
  /** Selects only rows whose content can still be masked. */
  with_content?: true
}

/** Maximum trace ids of one call, which are parameters of a statement. */
export const maxRetentionIds = 5_000

/**
 * The port that removes data from a store; every store of observations has it. Reads that begin
 * after a call resolves do not see the removed data. Calls are idempotent. Rejects with
 * problem('store_unavailable') when the store is unavailable. An aborted signal ends the wait, but
 * the store may complete its work.
 */
export type RetentionTarget = ErasureTarget & {
  readonly store: 'clickhouse' | 'postgres'
  /** The kinds that the store has. Calls for other kinds do nothing. */
  readonly kinds: readonly RecordKind[]
  deleteRows(slice: RetentionSlice, signal?: AbortSignal): Promise<void>
  /**
   * Removes content (attributes: see `contentAttributes` of the model) and keeps measurements. Sets
   * the `content_state` of observations to `expired`.
   */
  maskContent(slice: RetentionSlice, signal?: AbortSignal): Promise<void>
}

/**
 * The port that erases a user. First every store hides the rows from reads. Then stores that keep
 * the bytes of deleted rows purge them.
 */
export type ErasureTarget = {
  /** Returns sorted traces after `after` with rows of the user; at most `maxRetentionIds`. */
  tracesOfUser?: (about: {
    project_id: string
    user_id: string
    after: string
  }) => Promise<string[]>
  /**
   * Deletes the rows of these traces that have this user or no user. Reads that begin after the
   * call resolves do not see them. Idempotent.
   */
  eraseUser: (about: UserErasure, signal?: AbortSignal) => Promise<void>
  /** Removes the bytes of rows that `eraseUser` deleted. Returns true if files were rewritten. */
  purgeUser?: (about: UserErasure, signal?: AbortSignal) => Promise<boolean>
  /**
   * Counts the user's records that a hold keeps, for the receipt. Without it, the store keeps only
   * records of held traces, which `RetentionStore` counts.
   */
  countHeld?: (about: Omit<UserErasure, 'trace_ids'>) => Promise<number>
}

/** A user and traces of the user, at most `maxRetentionIds`. */
export type UserErasure = {
  project_id: string
  user_id: string
  trace_ids: readonly string[]
  /** The user's held traces, which are kept and not in `trace_ids`. */
  held_trace_ids: readonly string[]
}

/** A hold. It covers the whole traces of a task, conversation or user. */
export type HeldBy = { kind: 'trace' | 'task' | 'conversation' | 'user'; value: string }

/**
 * The port of the store with all data, which also counts it. Kinds without an environment (events,
 * links, correlations) take that of their trace's observations or record: the first match in
 * `environments`, else `''`.
 */
export type RetentionStore = RetentionTarget & {
  /**
   * Counts rows by UTC day and environment, oldest first; at most `maxCensusBuckets`. Records sent
   * again may count twice: a census only locates rows.
   */
  census(asked: CensusQuery): Promise<CensusBucket[]>
  /**
   * Counts the records of a slice by UTC day and environment, oldest first, in one statement.
   * Records sent again count once in each bucket. At most `maxCountedBuckets`.
   */
  countBuckets(asked: CountQuery): Promise<BucketCount[]>
  /** Returns the held traces with rows in the slice, sorted; at most `maxRetentionIds` + 1. */
  heldTraces(slice: OpenSlice, holds: readonly HeldBy[]): Promise<string[]>
  /** Returns the slice's traces of an environment, sorted; at most `maxRetentionIds`. */
  tracesOf(slice: OpenSlice, asked: TracesQuery): Promise<string[]>
  /** Returns tasks and conversations with a held trace; at most `maxRetentionIds` of each. */
  heldOwners(project_id: string, holds: readonly HeldBy[]): Promise<HeldOwners>
  /**
   * Returns the held traces among the given ones, of which there are at most `maxRetentionIds`.
   */
  heldAmong(
    project_id: string,
    trace_ids: readonly string[],
    holds: readonly HeldBy[],
  ): Promise<string[]>
  /** Counts the records that `eraseUser` would delete, by kind. Records sent again count once. */
  countUser(about: Omit<UserErasure, 'held_trace_ids'>): Promise<UserCount[]>
}

/** A slice before its held traces are known. */
export type OpenSlice = Omit<RetentionSlice, 'held_trace_ids'>

type HeldOwners = { task_ids: string[]; conversation_ids: string[] }

export type TracesQuery = {
  environment: string
  environments: readonly string[]
  /** Selects only ids after this one. */
  after?: string
}

export type CensusQuery = {
  project_id: string
  kind: RecordKind
  /** Bounds of the rows' time, in nanoseconds since 1970: `before` exclusive, `from` inclusive. */
  before: bigint
  from?: bigint
  /** Counts only rows whose content can still be masked. */
  with_content: boolean
  /** For kinds without one: environments to distinguish. Empty: all rows count under `''`. */
  environments: readonly string[]
}

/** Maximum buckets of one census. */
export const maxCensusBuckets = 10_000

/** The scope of a count; the slice may span many days. */
export type CountQuery = {
  slice: RetentionSlice
  /** Environments to distinguish, as in a census. */
  environments: readonly string[]
  /** Days of which only rows stored before an instant are deleted; at most `maxCountBounds`. */
  bounds: readonly { day: number; stored_before_ms: number }[]
}

/** Maximum buckets of one count: twice a census, for rows that arrive in between. */
export const maxCountedBuckets = 2 * maxCensusBuckets

/** Maximum bounds of one count, which are parameters of its statement. */
export const maxCountBounds = 1_000

/** Counts of one day and environment. `rows` would be deleted, the others kept. */
export type BucketCount = CensusBucket & {
  /** Rows of held traces of the slice. */
  held_rows: number
  /** Rows that are not held and were stored after the day's bound. */
  late_rows: number
}

/** A day counts from 1970 in UTC. */
export type CensusBucket = { day: number; environment: string } & SliceCount

/** Counts of a slice; `bytes` estimates the size on disk. */
type SliceCount = { rows: number; bytes: number }

export type UserCount = { kind: RecordKind; rows: number }

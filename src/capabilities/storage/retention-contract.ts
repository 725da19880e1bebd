import type { RecordKind } from './record-contract.ts'

/**
 * Rows of one kind and project that lie in a window of their own time (nanoseconds since 1970: from
 * inclusive, to exclusive). Every condition that is left out leaves no row out.
 */
export type RetentionSlice = {
  project_id: string
  kind: RecordKind
  from: bigint
  to: bigint
  /** Only rows of these environments. Kinds that have none in their rows are told traces instead. */
  environments?: readonly string[]
  /** Only rows of these traces; at most `retentionIds_max`. */
  trace_ids?: readonly string[]
  /** Rows of these traces stay whatever else is said; at most `retentionIds_max`. */
  held_trace_ids: readonly string[]
  /** Only rows that were stored before this instant, in milliseconds since 1970. */
  stored_before_ms?: number
  /** Only rows whose content can still be masked. */
  with_content?: true
}

/** Trace ids of one call: they travel in a statement's parameters. */
export const retentionIds_max = 5_000

/**
 * The port that takes data out of a store; every store of observations has it. What a call took out
 * is seen by no read that begins after it resolved. Each call may be repeated, and does no harm
 * then. Rejects with problem('store_unavailable') when the store is out of reach. With a signal that
 * aborts it is no longer waited for; what the store has begun may go on.
 */
export type RetentionTarget = ErasureTarget & {
  readonly store: 'clickhouse' | 'postgres'
  /** The kinds that the store has; calls for others do nothing. */
  readonly kinds: readonly RecordKind[]
  deleteRows(slice: RetentionSlice, signal?: AbortSignal): Promise<void>
  /**
   * Takes out what was said (`contentAttributes` of the model has the attributes) and leaves what was
   * measured; the `content_state` of observations becomes `expired`.
   */
  maskContent(slice: RetentionSlice, signal?: AbortSignal): Promise<void>
}

/**
 * The port that erases a user. First every store hides the rows from reads; then the stores that keep
 * the bytes of deleted rows purge them.
 */
export type ErasureTarget = {
  /** Reads traces with rows of the user behind `after`, sorted; at most `retentionIds_max`. */
  tracesOfUser?: (about: {
    project_id: string
    user_id: string
    after: string
  }) => Promise<string[]>
  /**
   * Deletes the rows of these traces that have this user or no user. Reads that begin after it
   * resolved find none of them. Idempotent.
   */
  eraseUser: (about: UserErasure, signal?: AbortSignal) => Promise<void>
  /** Removes the bytes of rows that `eraseUser` deleted; true when it rewrote files. */
  purgeUser?: (about: UserErasure, signal?: AbortSignal) => Promise<boolean>
}

/** A user and traces of the user, at most `retentionIds_max`. */
export type UserErasure = {
  project_id: string
  user_id: string
  trace_ids: readonly string[]
  /** The user's held traces, which stay; `trace_ids` leaves them out. */
  held_trace_ids: readonly string[]
}

/** What keeps data from being deleted. A task's, conversation's or user's whole traces are held. */
export type HeldBy = { kind: 'trace' | 'task' | 'conversation' | 'user'; value: string }

/**
 * The port of the store that has everything, which also says what there is. Kinds without an
 * environment of their own (events, links, correlations) have that of their trace, as its
 * observations or its record tell it: the first of `environments` that it has, else `''`.
 */
export type RetentionStore = RetentionTarget & {
  /**
   * Rows by UTC day and environment, oldest first; at most `censusBuckets_max`. A record that was
   * sent again may count twice: this is to know where to look.
   */
  census(asked: CensusQuery): Promise<CensusBucket[]>
  /**
   * Rows of a slice by UTC day and environment, in one statement; a record that was sent again counts
   * once in each. At most `countedBuckets_max`, oldest first.
   */
  countBuckets(asked: CountQuery): Promise<BucketCount[]>
  /** Traces with rows in the slice that something holds, sorted; at most `retentionIds_max` + 1. */
  heldTraces(slice: OpenSlice, holds: readonly HeldBy[]): Promise<string[]>
  /** Traces with rows in the slice that have the environment, sorted; at most `retentionIds_max`. */
  tracesOf(slice: OpenSlice, asked: TracesQuery): Promise<string[]>
  /** Tasks and conversations of which any trace is held; at most `retentionIds_max` of each. */
  heldOwners(project_id: string, holds: readonly HeldBy[]): Promise<HeldOwners>
  /** Returns those of the traces that are held; at most `retentionIds_max` are given. */
  heldAmong(
    project_id: string,
    trace_ids: readonly string[],
    holds: readonly HeldBy[],
  ): Promise<string[]>
  /** Rows that `eraseUser` would delete, by kind; a record that was sent again counts once. */
  countUser(about: Omit<UserErasure, 'held_trace_ids'>): Promise<UserCount[]>
}

/** A slice before it is known what in it is held. */
export type OpenSlice = Omit<RetentionSlice, 'held_trace_ids'>

export type HeldOwners = { task_ids: string[]; conversation_ids: string[] }

export type TracesQuery = {
  environment: string
  environments: readonly string[]
  /** Only ids behind this one. */
  after?: string
}

export type CensusQuery = {
  project_id: string
  kind: RecordKind
  /** Only rows whose time is before, in nanoseconds since 1970; and after, where it is given. */
  before: bigint
  from?: bigint
  /** Only rows whose content can still be masked. */
  with_content: boolean
  /** For kinds that have none: environments to tell apart. Empty: all is told under `''`. */
  environments: readonly string[]
}

/** Buckets of one census. */
export const censusBuckets_max = 10_000

/** The scope of a count; the slice may span many days. */
export type CountQuery = {
  slice: RetentionSlice
  /** For kinds without an environment, as in a census. */
  environments: readonly string[]
  /** Days of which only rows that were stored before an instant go; at most `countBounds_max`. */
  bounds: readonly { day: number; stored_before_ms: number }[]
}

/** More than a census of the same slice finds, for rows that arrive between the two. */
export const countedBuckets_max = 2 * censusBuckets_max
/** Bounds of one count: they travel in the parameters of its statement. */
export const countBounds_max = 1_000

/** Rows of one day and environment: `rows` go, the others stay. */
export type BucketCount = CensusBucket & {
  /** Rows of traces that the slice names as held. */
  held_rows: number
  /** Rows that nothing holds and that came after the day's bound. */
  late_rows: number
}

/** A day counts from 1970 in UTC. */
export type CensusBucket = { day: number; environment: string } & SliceCount

/** `bytes` are those on disk, about. */
export type SliceCount = { rows: number; bytes: number }

export type UserCount = { kind: RecordKind; rows: number }

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
}

/** Trace ids of one call: they travel in a statement's parameters. */
export const retentionIds_max = 5_000

/**
 * The port that takes data out of a store; every store of observations has it. What a call took out
 * is seen by no read that begins after it resolved. Each call may be repeated, and does no harm
 * then. Rejects with problem('store_unavailable') when the store is out of reach.
 */
export type RetentionTarget = {
  readonly store: 'clickhouse' | 'postgres'
  /** The kinds that the store has; calls for others do nothing. */
  readonly kinds: readonly RecordKind[]
  deleteRows(slice: RetentionSlice): Promise<void>
  /**
   * Takes out what was said (`contentAttributes` of capture has the attributes) and leaves what was
   * measured; the `content_state` of observations becomes `expired`.
   */
  maskContent(slice: RetentionSlice): Promise<void>
  /**
   * Deletes the rows of a user, and of the traces that the user has rows in those that name no user;
   * but nothing of the held traces. Resolves when no such row is left.
   */
  eraseUser(about: UserErasure): Promise<void>
}

/** Whose rows, and which of them stay. */
export type UserErasure = {
  project_id: string
  user_id: string
  held_trace_ids: readonly string[]
  /** True: wait until the bytes are gone too, where the store keeps them for a while. */
  purge: boolean
}

/** What keeps data from being deleted. A task's, conversation's or user's whole traces are held. */
export type HeldBy = { kind: 'trace' | 'task' | 'conversation' | 'user'; value: string }

/** The port of the store that has everything, which also says what there is. */
export type RetentionStore = RetentionTarget & {
  /** Rows by UTC day and environment, of those whose time is before an instant; oldest first. */
  census(asked: CensusQuery): Promise<CensusBucket[]>
  /** Rows of a slice, and those of them that are held. */
  count(slice: RetentionSlice): Promise<SliceCount>
  /** Traces with rows in the slice that something holds, in the order of their ids. */
  heldTraces(
    slice: Omit<RetentionSlice, 'held_trace_ids'>,
    holds: readonly HeldBy[],
  ): Promise<string[]>
}

export type CensusQuery = {
  project_id: string
  kind: RecordKind
  before: bigint
  /** Only rows whose content can still be masked. */
  with_content: boolean
}

/** A day counts from 1970 in UTC. */
export type CensusBucket = { day: number; environment: string } & SliceCount

/** A record that was sent again counts once. `bytes` are those on disk, about. */
export type SliceCount = { rows: number; bytes: number }

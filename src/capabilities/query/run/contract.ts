import { type Problem, problem } from '../../../kernel/problem.ts'
import type { Statement } from '../compile/statement.ts'
import type { EntityName } from '../language/catalogue.ts'
import type { StoreName } from '../language/field.ts'
import type { QueryWindow } from '../language/page-query.ts'

/** The limits of one query. The store stops a query that exceeds one. */
export type QueryLimits = {
  rows_read_max: number
  bytes_read_max: number
  time_ms_max: number
  memory_bytes_max: number
  result_rows_max: number
}

/** The cost of a statement. Null: the store does not report it. */
export type QueryStats = {
  rows_read: number | null
  bytes_read: number | null
  duration_ms: number
}

/** An estimate of what a statement would read. Null: unknown, and `reason` says why. */
export type ReadEstimate = {
  rows: number | null
  bytes: number | null
  /** The source of the bytes: sizes of the columns, or of parts. Null with `bytes`. */
  bytes_from: 'columns' | 'parts' | null
  /** Upper bound of rows read, even where `rows` is unknown. */
  rows_at_most: number | null
  reason: string | null
}

/** The units that indexes select, out of all. */
export type Selected = { selected: number; total: number }

/** A store's plan for a statement. */
export type StorePlan = {
  /** The plan as the store prints it. */
  lines: readonly string[]
  estimate: ReadEstimate
  /** Parts to read, out of all. */
  parts: Selected | null
  /** Granules to read, out of all: the smallest blocks of rows that a ClickHouse index can skip. */
  granules: Selected | null
  /** Share of granules that indexes skip, 0 to 1. */
  skipped_share: number | null
}

/** Runs statements that were compiled for one store. */
export type QueryRunner = {
  readonly store: StoreName
  /**
   * Runs a statement of a project and returns all of its rows. Rejects with `QueryTooExpensive` above a limit,
   * and with `store_unavailable` when the store is unavailable. When the signal aborts, stops the
   * statement in the store and rejects with the signal's reason.
   */
  run(
    statement: Statement,
    about: { project_id: string; signal: AbortSignal; limits: QueryLimits; query_id: string },
  ): Promise<{ rows: Record<string, unknown>[]; stats: QueryStats }>
  /** Returns the store's plan, without running the statement. */
  plan(statement: Statement, about: { project_id: string; signal: AbortSignal }): Promise<StorePlan>
}

/** The name of a limit: its setting without the prefix `query_`. */
export type LimitName = keyof QueryLimits

/** A store stopped a statement that exceeded a limit. */
export class QueryTooExpensive extends Error {
  override readonly name = 'QueryTooExpensive'
  readonly limit: LimitName

  constructor(limit: LimitName, options: { cause: unknown }) {
    super(`the query exceeded ${limit}`, options)
    this.limit = limit
  }
}

/** The kind of a query: store routes and their statistics are per class. */
export type QueryClass = 'point' | 'list' | 'aggregate' | 'explorer'

/** The properties of a query that decide which store answers it. */
export type RoutingRequest = {
  project_id: string
  query_class: QueryClass
  entity: EntityName
  window: QueryWindow
  /** The query includes restored rows, which only ClickHouse has. */
  restored?: boolean
}

/** The stores that may answer, in order of preference, and the reasons. */
export type StoreChoice = {
  candidates: readonly StoreCandidate[]
  order: readonly StoreName[]
  /** Whether to try the next store when one is unavailable. */
  fallback: boolean
  /** The store that the project prefers, if it can't answer, and why it can't. */
  passed_over?: { store: StoreName; reason: string }
}

export type StoreCandidate = { store: StoreName; eligible: boolean; reason: string }

/** Chooses the stores that may answer. */
export type ChooseStore = (asked: RoutingRequest) => Promise<StoreChoice>

/** A query that a store answered or failed to answer. */
export type Served = {
  project_id: string
  query_class: QueryClass
  store: StoreName
  duration_ms: number
  rows_read: number | null
  /** Code of the problem; null on success. */
  failed: string | null
  fallback_reason: string | null
  /** The query in normal form, and its hash in logs and cursors. */
  query: { kind: 'query' | 'aggregate'; hash: string; body: object }
}

/** Returns the ids of a project's restored slices that queries may read now. */
export type RestoredSlices = (project_id: string) => Promise<readonly string[]>

/** Is called after each query; must not throw. */
export type OnServed = (served: Served) => void

/** Names of stores in messages. */
export const storeTitles: Readonly<Record<StoreName, string>> = {
  clickhouse: 'ClickHouse',
  postgres: 'PostgreSQL',
}

/** Returns a `store_unavailable` that names the store. */
export function storeUnavailable(store: StoreName, cause: unknown): Problem {
  return problem('store_unavailable', {
    detail: `${storeTitles[store]} is unavailable or too slow. Try again shortly.`,
    retry_after_s: 1,
    extensions: { store },
    cause,
  })
}

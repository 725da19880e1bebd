import type { Statement } from '../compile/statement.ts'
import type { EntityName } from '../language/catalogue.ts'
import type { QueryWindow } from '../language/check-query.ts'
import type { StoreName } from '../language/field.ts'

/** What one query may take of a store; above it the store stops it. */
export type QueryLimits = {
  rows_read_max: number
  bytes_read_max: number
  time_ms_max: number
  memory_bytes_max: number
  result_rows_max: number
}

/** What a statement took. Null: the store does not tell. */
export type QueryStats = {
  rows_read: number | null
  bytes_read: number | null
  duration_ms: number
}

/** How much a statement would read. Null: it can't be known, and `reason` says why. */
export type ReadEstimate = {
  rows: number | null
  bytes: number | null
  /** No more than this is read, even where `rows` is not known. */
  rows_at_most: number | null
  reason: string | null
}

/** A share that indexes leave to be read. */
export type Selected = { selected: number; total: number }

/** What a store would do for a statement. */
export type StorePlan = {
  /** The store's own words. */
  lines: readonly string[]
  estimate: ReadEstimate
  /** Parts (in PostgreSQL: partitions and tables) that are read, of those that there are. */
  parts: Selected | null
  /** Granules: the smallest portions of rows that an index of ClickHouse can skip. */
  granules: Selected | null
  /** The part of all rows that indexes skip, 0 to 1. */
  skipped_share: number | null
}

/** The way to one store, for statements that were compiled for it. */
export type QueryRunner = {
  readonly store: StoreName
  /**
   * Runs a statement to its end, or answers nothing. Rejects with `QueryTooExpensive` above a limit,
   * with `store_unavailable` when the store is out of reach, and with the signal's reason after
   * the store was told to stop.
   */
  run(
    statement: Statement,
    about: { signal: AbortSignal; limits: QueryLimits; query_id: string },
  ): Promise<{ rows: Record<string, unknown>[]; stats: QueryStats }>
  /** Asks what the store would do; runs nothing of the statement. */
  plan(statement: Statement, about: { signal: AbortSignal }): Promise<StorePlan>
}

/** What a limit is about, by the name of its setting. */
export type LimitName = keyof QueryLimits

/** A store stopped a statement, since it went over a limit. */
export class QueryTooExpensive extends Error {
  override readonly name = 'QueryTooExpensive'
  readonly limit: LimitName

  constructor(limit: LimitName, about: { cause: unknown }) {
    super(`the query went over ${limit}`, about)
    this.limit = limit
  }
}

/** What kind of work a query is: routes and their statistics are by it. */
export type QueryClass = 'point' | 'list' | 'aggregate' | 'explorer'

/** What a store is chosen for. */
export type StoreAsked = {
  project_id: string
  query_class: QueryClass
  entity: EntityName
  window: QueryWindow
  /** Restored rows are asked for too: only ClickHouse has them. */
  restored?: boolean
}

/** Which stores may answer, best first, and why. */
export type StoreChoice = {
  candidates: readonly StoreCandidate[]
  order: readonly StoreName[]
  /** True: when a store is out of reach, the next one is asked. */
  fallback: boolean
  /** Set when the store that the project names can't answer: why another one does. */
  passed_over?: { store: StoreName; reason: string }
}
export type StoreCandidate = { store: StoreName; eligible: boolean; reason: string }

/** Chooses the stores that may answer. */
export type ChooseStore = (asked: StoreAsked) => Promise<StoreChoice>

/** A query that a store answered, or failed to. */
export type Served = {
  project_id: string
  query_class: QueryClass
  store: StoreName
  duration_ms: number
  rows_read: number | null
  /** The code of the problem; null when all went well. */
  failed: string | null
  fallback_reason: string | null
  /** The query as it was understood, and what it is known by in logs. */
  query: { kind: 'query' | 'aggregate'; hash: string; body: object }
}

/** Ids of a project's restored slices that queries may see now. */
export type RestoredSlices = (project_id: string) => Promise<readonly string[]>

/** Told of each query; must not throw. */
export type OnServed = (served: Served) => void

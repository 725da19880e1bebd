import { shownDollars } from '../../../kernel/dollars.ts'
import { newId } from '../../../kernel/ids.ts'
import { Problem, problem } from '../../../kernel/problem.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import type { Dialect } from '../compile/dialect.ts'
import { clickhouse } from '../compile/dialects/clickhouse.ts'
import { postgres } from '../compile/dialects/postgres.ts'
import type { Column, Statement } from '../compile/statement.ts'
import { catalogue } from '../language/catalogue.ts'
import type { FieldType, StoreName } from '../language/field.ts'
import type { RestoredScope } from '../language/page-query.ts'
import {
  type ChooseStore,
  type LimitName,
  type QueryLimits,
  type QueryRunner,
  type QueryStats,
  QueryTooExpensive,
  type ReadEstimate,
  type RestoredSlices,
  type RoutingRequest,
  type Served,
  type StoreChoice,
  storeTitles,
} from './contract.ts'
import type { RunDeps } from './open-queries.ts'

/** A query that is ready to run: `compile` makes its statement for a store. */
export type PreparedRun = RoutingRequest & {
  query: Served['query']
  /** Maximum rows of the answer. */
  limit: number
  /** `to_plan`: the statement is for a plan only; see `compileQuery`. */
  compile: (dialect: Dialect, how?: { to_plan?: boolean }) => Statement
  signal: AbortSignal
}

/** A store's answer; `fallback_reason` is null when it was the first choice. */
export type QueryResult = {
  statement: Statement
  rows: Record<string, unknown>[]
  served_by: StoreName
  fallback_reason: string | null
  stats: QueryStats
}

/** The dialect of each store. */
export const dialects: Readonly<Record<StoreName, Dialect>> = { clickhouse, postgres }

/**
 * Runs a query on the first store that can answer. Throws `query_too_expensive`, `rate_limited`,
 * `store_unavailable` when no eligible store is available, and `request_timeout` when the client
 * disconnected.
 */
export async function runQuery(deps: RunDeps, run: PreparedRun): Promise<QueryResult> {
  if (run.limit > deps.limits.result_rows_max) {
    throw overLimit('result_rows_max', deps.limits, { rows: null, bytes: null })
  }
  const choice = await chooseStores(deps, run)
  return withSlot(deps, run, () => runInOrder(deps, run, choice))
}

/** Does work in one of the project's slots. Throws `request_timeout` if the client disconnects. */
export function withSlot<T>(
  { slots }: RunDeps,
  run: { project_id: string; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  return slots.take(run, work).catch((cause: unknown) => {
    if (!run.signal.aborted) throw cause
    throw problem('request_timeout', { detail: 'The client disconnected before the answer', cause })
  })
}

/** Chooses the stores to try. Throws `store_unavailable` when no store is eligible. */
export async function chooseStores(deps: RunDeps, request: RoutingRequest): Promise<StoreChoice> {
  const choice = request.restored ? restoredChoice : await deps.chooseStore(request)
  if (choice.order.length > 0) return choice
  const reasons = choice.candidates.map(({ reason }) => reason).join('; ')
  throw problem('store_unavailable', {
    detail: `No store can answer the query: ${reasons}`,
    retry_after_s: 1,
  })
}

const restoredChoice: StoreChoice = {
  candidates: [
    { store: 'clickhouse', eligible: true, reason: 'ClickHouse has the restored rows' },
    { store: 'postgres', eligible: false, reason: 'PostgreSQL has no restored rows' },
  ],
  order: ['clickhouse'],
  fallback: false,
}

async function runInOrder(
  deps: RunDeps,
  run: PreparedRun,
  choice: StoreChoice,
): Promise<QueryResult> {
  let fallback_reason = choice.passed_over?.reason ?? null
  for (const [at, store] of choice.order.entries()) {
    try {
      return await runOn(deps, run, { store, fallback_reason })
    } catch (error) {
      const isLast = at === choice.order.length - 1 || !choice.fallback
      if (isLast || !(error instanceof Problem) || error.code !== 'store_unavailable') throw error
      fallback_reason = `${storeTitles[store]} is unavailable`
    }
  }
  throw new RangeError('the choice of stores is empty')
}

async function runOn(
  deps: RunDeps,
  run: PreparedRun,
  about: { store: StoreName; fallback_reason: string | null },
): Promise<QueryResult> {
  const { store, fallback_reason } = about
  const { signal } = run
  const started_ms = performance.now()
  const statement = run.compile(dialects[store])
  try {
    const query_id = newId()
    const result = await deps.runners[store].run(statement, {
      project_id: run.project_id,
      signal,
      limits: deps.limits,
      query_id,
    })
    report(deps, run, { ...about, ...result.stats, failed: null })
    return { ...result, statement, served_by: store, fallback_reason }
  } catch (cause) {
    const error =
      cause instanceof QueryTooExpensive
        ? await tooExpensive(cause, deps.limits, {
            runner: deps.runners[store],
            statement: run.compile(dialects[store], { to_plan: true }),
            project_id: run.project_id,
            signal,
          })
        : cause
    const failed = signal.aborted ? 'client_left' : codeOf(error)
    const duration_ms = performance.now() - started_ms
    report(deps, run, { ...about, duration_ms, rows_read: null, failed })
    throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof Problem ? error.code : 'internal_error'
}

type Outcome = Omit<Served, 'project_id' | 'query_class' | 'query'>

function report(
  { meters, logger, onServed }: RunDeps,
  { project_id, query_class, query }: PreparedRun,
  { store, fallback_reason, duration_ms, rows_read, failed }: Outcome,
): void {
  const about = { store, fallback_reason, duration_ms, rows_read, failed }
  const served = { project_id, query_class, query, ...about }
  meters.observe(served)
  logger.debug({ project_id, query_class, query_hash: query.hash, ...about }, 'query')
  onServed(served)
}

/** Bound of the estimate after a query was stopped. A busy store takes longer to plan. */
const estimate_ms_max = 3_000

/** Returns `query_too_expensive` with the limit and, where the store can plan, an estimate. */
async function tooExpensive(
  error: QueryTooExpensive,
  limits: QueryLimits,
  about: { runner: QueryRunner; statement: Statement; project_id: string; signal: AbortSignal },
): Promise<Problem> {
  const signal = AbortSignal.any([about.signal, AbortSignal.timeout(estimate_ms_max)])
  const estimate = await about.runner
    .plan(about.statement, { project_id: about.project_id, signal })
    .then((plan) => plan.estimate)
    .catch(() => undefined)
  const { rows = null, bytes = null, rows_at_most = null } = estimate ?? {}
  return overLimit(error.limit, limits, { rows: rows ?? rows_at_most, bytes }, error)
}

const sentences: Readonly<Record<LimitName, string>> = {
  rows_read_max: 'rows to be read',
  bytes_read_max: 'bytes to be read',
  time_ms_max: 'ms of time',
  memory_bytes_max: 'bytes of memory',
  result_rows_max: 'rows in the answer',
}

/** Returns `query_too_expensive` with the limit and the estimate, as far as it is known. */
function overLimit(
  limit: LimitName,
  limits: QueryLimits,
  { rows, bytes }: Pick<ReadEstimate, 'rows' | 'bytes'>,
  cause?: unknown,
): Problem {
  const most = limits[limit].toLocaleString('en-US')
  const rowsText =
    rows === null ? '' : ` (it would read about ${rows.toLocaleString('en-US')} rows)`
  return problem('query_too_expensive', {
    detail: `expected at most ${most} ${sentences[limit]}${rowsText}: use a shorter window or more filters`,
    extensions: { estimate: { limit: `query_${limit}`, limit_value: limits[limit], rows, bytes } },
    cause,
  })
}

/** Adds the restored slices to read to a query that includes restored rows. */
export async function addRestoredSlices<Scoped extends RestoredScope>(
  { restoredSlices }: { restoredSlices: RestoredSlices },
  query: Scoped,
  project_id: string,
): Promise<Scoped> {
  return query.include_restored ? { ...query, slices: await restoredSlices(project_id) } : query
}

/**
 * Chooses ClickHouse for the entities that it has, else PostgreSQL. For use without store routing.
 */
export const chooseByEntity: ChooseStore = async ({ entity }) => {
  const has = (store: StoreName) => catalogue[entity].stores[store] !== undefined
  const chosen: StoreName = has('clickhouse') ? 'clickhouse' : 'postgres'
  const candidates = (['clickhouse', 'postgres'] as const).map((store) => ({
    store,
    eligible: store === chosen,
    reason: has(store) ? reasonsByEntity[store] : `${storeTitles[store]} has no ${entity}`,
  }))
  return { candidates, order: [chosen], fallback: false }
}

const reasonsByEntity: Readonly<Record<StoreName, string>> = {
  clickhouse: 'ClickHouse has all records of the entity',
  postgres: 'PostgreSQL answers for entities that ClickHouse does not have',
}

/** A value in JSON; null for unknown values, including unknown text. */
export type JsonValue = string | number | boolean | null | object

/** Converts a store's row to JSON, keyed by the names that the query gave. */
export function toJsonRow(
  row: Readonly<Record<string, unknown>>,
  columns: readonly Column[],
): Record<string, JsonValue> {
  return Object.fromEntries(
    columns.map(({ alias, name, type }) => [name, toJsonValue(row[alias], type)]),
  )
}

function toJsonValue(value: unknown, type: FieldType): JsonValue {
  if (value === null || value === undefined || value === '') return null
  switch (type) {
    case 'integer':
    case 'float':
      return Number(value)
    case 'decimal':
      return shownDollars(String(value))
    case 'time':
      return isoFromNs(BigInt(String(value)))
    // ClickHouse returns computed booleans as numbers.
    case 'bool':
      return value === true || Number(value) === 1
    default:
      return value as JsonValue
  }
}

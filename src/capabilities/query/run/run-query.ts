import { newId } from '../../../kernel/ids.ts'
import { Problem, problem } from '../../../kernel/problem.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import type { Dialect } from '../compile/dialect.ts'
import { clickhouse } from '../compile/dialects/clickhouse.ts'
import { postgres } from '../compile/dialects/postgres.ts'
import type { Statement } from '../compile/statement.ts'
import type { StoreName } from '../language/field.ts'
import {
  type ChooseStore,
  type OnServed,
  type QueryLimits,
  type QueryRunner,
  type QueryStats,
  QueryTooExpensive,
  type RestoredSlices,
  type Served,
  type StoreAsked,
  type StoreChoice,
} from './contract.ts'
import type { ProjectSlots } from './project-slots.ts'
import type { QueryMeters } from './query-meters.ts'
import { storeTitles } from './store-problem.ts'
import { overLimit, tooExpensive } from './too-expensive.ts'

/** What running queries takes. */
export type RunDeps = {
  runners: Readonly<Record<StoreName, QueryRunner>>
  chooseStore: ChooseStore
  onServed: OnServed
  restoredSlices: RestoredSlices
  slots: ProjectSlots
  limits: QueryLimits
  meters: QueryMeters
  logger: Logger
}

/** A query to run: `compile` makes its statement for a store. */
export type AskedRun = StoreAsked & {
  query: Served['query']
  /** Rows that the answer may have. */
  limit: number
  /** `to_plan`: not to be run, see `compileQuery`. */
  compile: (dialect: Dialect, how?: { to_plan?: boolean }) => Statement
  signal: AbortSignal
}

/** A store's answer; `fallback_reason` is null when it was the first choice. */
export type Ran = {
  statement: Statement
  rows: Record<string, unknown>[]
  served_by: StoreName
  fallback_reason: string | null
  stats: QueryStats
}

/** How each store writes statements. */
export const dialects: Readonly<Record<StoreName, Dialect>> = { clickhouse, postgres }

/**
 * Has the first store that can answer run a query. Throws `query_too_expensive`, `rate_limited`,
 * `store_unavailable` when none of the stores that may answer can be reached, and `request_timeout`
 * when the client left.
 */
export async function runQuery(deps: RunDeps, asked: AskedRun): Promise<Ran> {
  if (asked.limit > deps.limits.result_rows_max) {
    throw overLimit('result_rows_max', deps.limits, { rows: null, bytes: null })
  }
  const choice = await storesFor(deps, asked)
  return inTurn(deps, asked, () => runInOrder(deps, asked, choice))
}

/** Does work in a place of its project. Throws `request_timeout` when the client left meanwhile. */
export function inTurn<T>(
  { slots }: RunDeps,
  asked: { project_id: string; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  return slots.take(asked, work).catch((cause: unknown) => {
    if (!asked.signal.aborted) throw cause
    throw problem('request_timeout', { detail: 'The client left before the answer', cause })
  })
}

/** The stores to ask; throws `store_unavailable` when none may. */
export async function storesFor(deps: RunDeps, asked: StoreAsked): Promise<StoreChoice> {
  const choice = asked.restored ? restoredChoice : await deps.chooseStore(asked)
  if (choice.order.length > 0) return choice
  const reasons = choice.candidates.map(({ reason }) => reason).join('; ')
  throw problem('store_unavailable', {
    detail: `No store can answer: ${reasons}`,
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

async function runInOrder(deps: RunDeps, asked: AskedRun, choice: StoreChoice): Promise<Ran> {
  let fallback_reason = choice.passed_over?.reason ?? null
  for (const [at, store] of choice.order.entries()) {
    try {
      return await runOn(deps, asked, { store, fallback_reason })
    } catch (error) {
      const isLast = at === choice.order.length - 1 || !choice.fallback
      if (isLast || !(error instanceof Problem) || error.code !== 'store_unavailable') throw error
      fallback_reason = `${storeTitles[store]} is out of reach`
    }
  }
  throw new RangeError('there is no store to ask')
}

async function runOn(
  deps: RunDeps,
  asked: AskedRun,
  about: { store: StoreName; fallback_reason: string | null },
): Promise<Ran> {
  const { store, fallback_reason } = about
  const { signal } = asked
  const started_ms = performance.now()
  const statement = asked.compile(dialects[store])
  try {
    const query_id = newId()
    const ran = await deps.runners[store].run(statement, { signal, limits: deps.limits, query_id })
    tell(deps, asked, { ...about, ...ran.stats, failed: null })
    return { ...ran, statement, served_by: store, fallback_reason }
  } catch (cause) {
    const error =
      cause instanceof QueryTooExpensive
        ? await tooExpensive(cause, deps.limits, {
            runner: deps.runners[store],
            statement: asked.compile(dialects[store], { to_plan: true }),
            signal,
          })
        : cause
    const failed = signal.aborted ? 'client_left' : codeOf(error)
    const duration_ms = performance.now() - started_ms
    tell(deps, asked, { ...about, duration_ms, rows_read: null, failed })
    throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof Problem ? error.code : 'internal_error'
}

type Told = Omit<Served, 'project_id' | 'query_class' | 'query'>

function tell(
  { meters, logger, onServed }: RunDeps,
  { project_id, query_class, query }: AskedRun,
  { store, fallback_reason, duration_ms, rows_read, failed }: Told,
): void {
  const about = { store, fallback_reason, duration_ms, rows_read, failed }
  const served = { project_id, query_class, query, ...about }
  meters.observe(served)
  logger.debug({ project_id, query_class, query_hash: query.hash, ...about }, 'query')
  onServed(served)
}

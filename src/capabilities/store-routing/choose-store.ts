import { BoundedCache } from '../../kernel/bounded-cache.ts'
import { type Clock, isoFromNs } from '../../kernel/time.ts'
import { isRelationalUnavailable } from '../../platform/relational/index.ts'
import type { ChooseStore, RoutingRequest, StoreCandidate, StoreChoice } from '../query/index.ts'
import { dayOf, storeCapabilities } from '../storage/index.ts'
import {
  autoRoutes,
  defaultRouting,
  type QueryClass,
  type Routing,
  readableSpan,
  type StoreName,
  storeNames,
  traceMarginNs,
  writesToPostgres,
} from './contract.ts'
import { findHotState, type HotState, type RoutingDb, routingTable } from './store.ts'

type ChoiceDeps = { db: RoutingDb; routings: RoutingCache; clock: Clock }

/**
 * Chooses stores by the project's routing. PostgreSQL also stores the routings. While it is
 * unavailable, ClickHouse answers, unless a cached routing forbids it.
 */
export function chooseByRouting({ db, routings, clock }: ChoiceDeps): ChooseStore {
  return async (request) => {
    const only = findOnlyStore(request.entity)
    if (only !== undefined) return chooseOnly(request.entity, only)
    const routing = await routings.routingOf(request.project_id).catch(undefinedIfUnavailable)
    if (routing === undefined) return toChoice(request, unknownRouting, unavailable)
    const now_ms = clock.now_ms()
    const early = checkRouting(request, routing, now_ms)
    if (early !== undefined) return toChoice(request, routing, early)
    // Never cached: the state decides whether PostgreSQL's answer would be complete.
    const { from, to } = timesRead(request)
    const days = { from: dayOf(from), to: dayOf(to) }
    const state = await findHotState(db, request.project_id, days)
      .then((found) => found ?? notCovered)
      .catch(undefinedIfUnavailable)
    return toChoice(
      request,
      routing,
      state === undefined ? unavailable : checkHotWindow(request, state),
    )
  }
}

const unavailable = 'PostgreSQL is unavailable'

const notCovered: HotState = { covered_from: null, backfill_job: null, gaps: [] }

/** Replaces a routing that can't be read. ClickHouse has the rows of every project. */
const unknownRouting: Routing = {
  ...defaultRouting,
  routes: { point: 'postgres', list: 'postgres', aggregate: 'postgres', explorer: 'postgres' },
}

function undefinedIfUnavailable(error: unknown): undefined {
  if (!isRelationalUnavailable(error)) throw error
  return undefined
}

function findOnlyStore(entity: string): StoreName | undefined {
  const stores = storeNames.filter((store) =>
    (storeCapabilities[store].entities as readonly string[]).includes(entity),
  )
  return stores.length === 1 ? stores[0] : undefined
}

const titles: Readonly<Record<StoreName, string>> = {
  clickhouse: 'ClickHouse',
  postgres: 'PostgreSQL',
}

function chooseOnly(entity: string, only: StoreName): StoreChoice {
  const reason = `${entity} are in ${titles[only]} only`
  const candidates = storeNames.map((store) => ({ store, eligible: store === only, reason }))
  return { candidates, order: [only], fallback: false }
}

/** Returns why PostgreSQL can't answer by the routing; undefined if it may. */
function checkRouting(
  { window, restored }: RoutingRequest,
  routing: Routing,
  now_ms: number,
): string | undefined {
  if (!writesToPostgres(routing)) return 'the project does not write to PostgreSQL'
  if (restored) return 'restored rows are in ClickHouse only'
  const { from, to } = readableSpan(now_ms, routing)
  const hours = routing.hot_window_hours
  if (window.from < from) return `the window begins before the hot window of ${hours} hours`
  if (window.to > to) return 'the window ends more than a day from now'
  return undefined
}

/** Returns why PostgreSQL can't answer by the state of the hot window; undefined if it can. */
function checkHotWindow(request: RoutingRequest, state: HotState): string | undefined {
  const { covered_from, gaps } = state
  if (covered_from === null) return 'the hot window is not filled yet'
  if (timesRead(request).from < covered_from) {
    return `the hot window is filled only from ${isoFromNs(covered_from)}`
  }
  const [gap] = gaps
  if (gap === undefined) return undefined
  return `rows of ${dateOf(gap.day)} are missing in PostgreSQL (${gap.reason}) until a backfill repairs them`
}

/** Returns the times that are read: traces need observations of a day around the window. */
function timesRead({ entity, window }: RoutingRequest): { from: bigint; to: bigint } {
  const margin = entity === 'traces' ? traceMarginNs : 0n
  return { from: window.from - margin, to: window.to + margin }
}

function toChoice(
  { query_class, entity }: RoutingRequest,
  { routes, fallback }: Routing,
  refusal: string | undefined,
): StoreChoice {
  const route = routes[query_class]
  // A page of traces aggregates its whole window, however few rows it returns.
  const work = entity === 'traces' && query_class === 'list' ? 'aggregate' : query_class
  const first = route === 'auto' ? autoRoutes[work] : route
  const chosen =
    route === 'auto' ? autoReasons[work] : `the route of ${query_class} queries names it`
  const notChosen = `the hot window has the rows, but ${titles[first]} is chosen: ${chosen}`
  const candidates: StoreCandidate[] = [
    {
      store: 'clickhouse',
      eligible: true,
      reason: first === 'clickhouse' ? chosen : 'ClickHouse has all rows',
    },
    {
      store: 'postgres',
      eligible: refusal === undefined,
      reason: refusal ?? (first === 'postgres' ? chosen : notChosen),
    },
  ]
  if (refusal === undefined) {
    const order = [first, ...storeNames.filter((store) => store !== first)]
    return { candidates, order, fallback }
  }
  if (route !== 'postgres') return { candidates, order: ['clickhouse'], fallback: false }
  const passed_over = { store: route, reason: refusal }
  if (fallback) return { candidates, order: ['clickhouse'], fallback: false, passed_over }
  const refused: StoreCandidate[] = [
    { store: 'clickhouse', eligible: false, reason: 'fallback to ClickHouse is off' },
    { store: 'postgres', eligible: false, reason: `PostgreSQL can't answer: ${refusal}` },
  ]
  return { candidates: refused, order: [], fallback: false, passed_over }
}

const autoReasons: Readonly<Record<QueryClass, string>> = {
  point: 'auto: PostgreSQL finds single records fastest',
  list: 'auto: PostgreSQL answers short pages fastest',
  aggregate: 'auto: ClickHouse aggregates fastest',
  explorer: 'auto: ClickHouse reads whole traces fastest',
}

function dateOf(day: number): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10)
}

/** Maximum age of a cached routing. Backfills wait this long, until all processes follow. */
export const routingTtlMs = 5_000

/** A process's cache of routings. */
export type RoutingCache = {
  /** Returns a project's routing, at most `routingTtlMs` old. Rejects with the store's error. */
  routingOf(project_id: string): Promise<Routing>
  /** Drops a project's routing, after this process changed it. */
  forget(project_id: string): void
}

const projects_max = 10_000

type Known = { routing: Promise<Routing>; read_at_ms: number }

/** Creates a cache of routings. Concurrent callers share one read. */
export function createRoutingCache({ db, clock }: { db: RoutingDb; clock: Clock }): RoutingCache {
  const known = new BoundedCache<string, Known>(projects_max)
  return {
    routingOf: (project_id) => {
      const now_ms = clock.now_ms()
      const cached = known.get(project_id)
      if (cached && now_ms - cached.read_at_ms < routingTtlMs) return cached.routing
      const routing = routingTable.read(db, project_id)
      known.set(project_id, { routing, read_at_ms: now_ms })
      routing.catch(() => {
        if (known.get(project_id)?.routing === routing) known.delete(project_id)
      })
      return routing
    },
    forget: (project_id) => {
      known.delete(project_id)
    },
  }
}

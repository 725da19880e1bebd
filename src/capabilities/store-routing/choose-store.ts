import type { Clock } from '../../kernel/time.ts'
import { isoFromNs } from '../../kernel/time.ts'
import { isRelationalUnavailable } from '../../platform/relational/index.ts'
import { dayOf, storeCapabilities } from '../storage/index.ts'
import {
  autoRoutes,
  defaultRouting,
  type QueryClass,
  type Routing,
  readableSpan,
  type StoreName,
  storeNames,
  traceMargin_ns,
  writesToPostgres,
} from './contract.ts'
import type { RoutingCache } from './routing-cache.ts'
import { findHotState, type HotState, type RoutingDb } from './store.ts'

/** What is asked: nanoseconds since 1970, from inclusive, to exclusive. */
export type StoreQuestion = {
  project_id: string
  query_class: QueryClass
  entity: string
  window: { from: bigint; to: bigint }
  /** Restored rows are asked for, too. */
  restored?: boolean
}

/** A store, whether it can answer, and why it is or is not asked. */
export type StoreCandidate = { store: StoreName; eligible: boolean; reason: string }

/** Which stores to ask, in which order. */
export type StoreChoice = {
  candidates: StoreCandidate[]
  /** The stores that can answer; empty when the one that the route names can't and no other may. */
  order: StoreName[]
  /** Whether the next store may be asked when one fails. */
  fallback: boolean
  /** Set when the route names a store that can't answer: why another one does. */
  passed_over?: { store: StoreName; reason: string }
}

/**
 * Makes the choice of stores by the project's routing. While PostgreSQL, which has the routings too,
 * is out of reach, ClickHouse answers what it has, unless the routing is known to forbid it.
 */
export function chooseByRouting(about: {
  db: RoutingDb
  routings: RoutingCache
  clock: Clock
}): (asked: StoreQuestion) => Promise<StoreChoice> {
  const { db, routings, clock } = about
  return async (asked) => {
    const only = onlyStoreOf(asked.entity)
    if (only !== undefined) return onlyChoice(asked.entity, only)
    const routing = await routings.routingOf(asked.project_id).catch(ifAway)
    if (routing === undefined) return choiceOf(asked, unknownRouting, away)
    const now_ms = clock.now_ms()
    const early = earlyRefusal(asked, routing, now_ms)
    if (early !== undefined) return choiceOf(asked, routing, early)
    // Always read: what it says decides whether the answer is whole.
    const { from, to } = needed(asked)
    const days = { from: dayOf(from), to: dayOf(to) }
    const state = await findHotState(db, asked.project_id, days)
      .then((found) => found ?? notCovered)
      .catch(ifAway)
    return choiceOf(asked, routing, state === undefined ? away : lateRefusal(asked, state))
  }
}

const away = 'PostgreSQL is unavailable'
const notCovered: HotState = { covered_from: null, backfill_job: null, gaps: [] }
/** ClickHouse has the rows of every project, whatever its routing says. */
const unknownRouting: Routing = {
  ...defaultRouting,
  routes: { point: 'postgres', list: 'postgres', aggregate: 'postgres', explorer: 'postgres' },
}

function ifAway(error: unknown): undefined {
  if (!isRelationalUnavailable(error)) throw error
  return undefined
}

function onlyStoreOf(entity: string): StoreName | undefined {
  const stores = storeNames.filter((store) =>
    (storeCapabilities[store].entities as readonly string[]).includes(entity),
  )
  return stores.length === 1 ? stores[0] : undefined
}

const titles: Readonly<Record<StoreName, string>> = {
  clickhouse: 'ClickHouse',
  postgres: 'PostgreSQL',
}

function onlyChoice(entity: string, only: StoreName): StoreChoice {
  const reason = `${entity} are in ${titles[only]} only`
  const candidates = storeNames.map((store) => ({ store, eligible: store === only, reason }))
  return { candidates, order: [only], fallback: false }
}

/** Why PostgreSQL can't answer, as far as the routing tells. */
function earlyRefusal(
  { window, restored }: StoreQuestion,
  routing: Routing,
  now_ms: number,
): string | undefined {
  if (!writesToPostgres(routing)) return 'the project does not write to PostgreSQL'
  if (restored) return 'what was restored is in ClickHouse only'
  const { from, to } = readableSpan(now_ms, routing)
  const hours = routing.hot_window_hours
  if (window.from < from) return `the window begins before the hot window of ${hours} hours`
  if (window.to > to) return 'the window ends more than a day from now'
  return undefined
}

/** Why PostgreSQL can't answer, by what of the project is there. */
function lateRefusal(asked: StoreQuestion, state: HotState): string | undefined {
  const { covered_from, gaps } = state
  if (covered_from === null) return 'the hot window is not filled yet'
  if (needed(asked).from < covered_from) {
    return `the hot window is filled from ${isoFromNs(covered_from)} on`
  }
  const [gap] = gaps
  if (gap === undefined) return undefined
  return `rows of ${dateOf(gap.day)} are missing in PostgreSQL (${gap.reason}) until a backfill has repaired it`
}

/** A trace is told from observations a day around the window, too. */
function needed({ entity, window }: StoreQuestion): { from: bigint; to: bigint } {
  const margin = entity === 'traces' ? traceMargin_ns : 0n
  return { from: window.from - margin, to: window.to + margin }
}

function choiceOf(
  { query_class, entity }: StoreQuestion,
  { routes, fallback }: Routing,
  refusal: string | undefined,
): StoreChoice {
  const route = routes[query_class]
  // A page of traces sums up all of its window, however short it is.
  const work = entity === 'traces' && query_class === 'list' ? 'aggregate' : query_class
  const first = route === 'auto' ? autoRoutes[work] : route
  const chosen = route === 'auto' ? autoReasons[work] : `the route of ${query_class} names it`
  const notChosen = `the hot window holds it, but ${titles[first]} is chosen: ${chosen}`
  const candidates: StoreCandidate[] = [
    {
      store: 'clickhouse',
      eligible: true,
      reason: first === 'clickhouse' ? chosen : 'it holds everything',
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
    { store: 'clickhouse', eligible: false, reason: 'ClickHouse may not, since fallback is off' },
    { store: 'postgres', eligible: false, reason: `PostgreSQL can not, since ${refusal}` },
  ]
  return { candidates: refused, order: [], fallback: false, passed_over }
}

const autoReasons: Readonly<Record<QueryClass, string>> = {
  point: 'auto: PostgreSQL finds single records soonest',
  list: 'auto: PostgreSQL answers short pages soonest',
  aggregate: 'auto: ClickHouse sums up soonest',
  explorer: 'auto: ClickHouse reads whole traces soonest',
}

function dateOf(day: number): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10)
}

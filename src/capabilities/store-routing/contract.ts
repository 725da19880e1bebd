import type { storeCapabilities } from '../storage/index.ts'

export type StoreName = keyof typeof storeCapabilities

export const storeNames = ['clickhouse', 'postgres'] as const satisfies readonly StoreName[]

/** Classes of queries, by their cost. */
export const queryClasses = ['point', 'list', 'aggregate', 'explorer'] as const

export type QueryClass = (typeof queryClasses)[number]

/** The store that answers a class of queries. `auto`: see `autoRoutes`. */
export const routeChoices = ['auto', ...storeNames] as const

type RouteChoice = (typeof routeChoices)[number]

/** How a project's data is written and read. */
export type Routing = {
  write_stores: readonly StoreName[]
  hot_window_hours: number
  routes: Readonly<Record<QueryClass, RouteChoice>>
  fallback: boolean
}

/** Bounds and default of the hot window in hours; at most 30 days. */
export const hotWindowHours = { min: 1, max: 720, default: 48 } as const

/** The routing of projects that have not set one. */
export const defaultRouting: Routing = {
  write_stores: ['clickhouse'],
  hot_window_hours: hotWindowHours.default,
  routes: { point: 'auto', list: 'auto', aggregate: 'auto', explorer: 'auto' },
  fallback: true,
}

/**
 * The faster store of each class where both hold the window. A page of traces counts as an
 * aggregate. Measured in docs/decisions/0024.
 */
export const autoRoutes: Readonly<Record<QueryClass, StoreName>> = {
  point: 'postgres',
  list: 'postgres',
  aggregate: 'clickhouse',
  explorer: 'clickhouse',
}

/** Returns true for a project whose rows are also written to PostgreSQL. */
export function writesToPostgres({ write_stores }: Pick<Routing, 'write_stores'>): boolean {
  return write_stores.includes('postgres')
}

const ns_per_ms = 1_000_000n

const hour_ns = 3_600_000_000_000n

/** A window of the last n hours is queried a little after it was computed. */
const grace_h = 1

/** Traces at the edge of a window are computed from observations of a day around it. */
const margin_h = 24

/** A window may end with the current day, in any time zone. */
const ahead_h = 24

/** Observations of a trace are read up to this far from the window. */
export const traceMargin_ns = BigInt(margin_h) * hour_ns

/** Hours kept before a window: one more than queries read, so that no read meets a trim. */
export const keptBeyond_h = grace_h + margin_h + 1

/** Returns the times whose rows PostgreSQL keeps, in nanoseconds since 1970. */
export function keptSpan(now_ms: number, { hot_window_hours }: Pick<Routing, 'hot_window_hours'>) {
  const now = BigInt(now_ms) * ns_per_ms
  return {
    from: now - BigInt(hot_window_hours + keptBeyond_h) * hour_ns,
    to: now + BigInt(ahead_h + margin_h + 1) * hour_ns,
  }
}

/** Returns the bounds of a query's window that PostgreSQL can answer. */
export function readableSpan(
  now_ms: number,
  { hot_window_hours }: Pick<Routing, 'hot_window_hours'>,
) {
  const now = BigInt(now_ms) * ns_per_ms
  return {
    from: now - BigInt(hot_window_hours + grace_h) * hour_ns,
    to: now + BigInt(ahead_h) * hour_ns,
  }
}

import type { storeCapabilities } from '../storage/index.ts'

export type StoreName = keyof typeof storeCapabilities
export const storeNames = ['clickhouse', 'postgres'] as const satisfies readonly StoreName[]

/** Kinds of reads, by what they cost. */
export const queryClasses = ['point', 'list', 'aggregate', 'explorer'] as const
export type QueryClass = (typeof queryClasses)[number]

/** Which store reads of a class go to. `auto`: see `autoRoutes`. */
export const routeChoices = ['auto', ...storeNames] as const
export type RouteChoice = (typeof routeChoices)[number]

/** How a project's data is written and read. */
export type Routing = {
  write_stores: readonly StoreName[]
  hot_window_hours: number
  routes: Readonly<Record<QueryClass, RouteChoice>>
  fallback: boolean
}

/** The hot window in hours: its least, its most (30 days) and what it is when nobody says. */
export const hotWindowHours = { min: 1, max: 720, default: 48 } as const

/** What holds until somebody says otherwise. */
export const defaultRouting: Routing = {
  write_stores: ['clickhouse'],
  hot_window_hours: hotWindowHours.default,
  routes: { point: 'auto', list: 'auto', aggregate: 'auto', explorer: 'auto' },
  fallback: true,
}

/**
 * What `auto` means where both stores hold the window, by what it takes: a page of traces is summed
 * up. Measured in docs/decisions/0024.
 */
export const autoRoutes: Readonly<Record<QueryClass, StoreName>> = {
  point: 'postgres',
  list: 'postgres',
  aggregate: 'clickhouse',
  explorer: 'clickhouse',
}

/** True for a project whose rows go to PostgreSQL too. */
export function writesToPostgres({ write_stores }: Pick<Routing, 'write_stores'>): boolean {
  return write_stores.includes('postgres')
}

const ns_per_ms = 1_000_000n
const hour_ns = 3_600_000_000_000n

/** A window that is "the last so many hours" is asked a little later than it was made. */
const grace_h = 1
/** Traces at the edge of a window are told from a day around it. */
const margin_h = 24

/** A window may end with the day, in whatever zone. */
const ahead_h = 24

/** A trace that begins in a window has its observations at most so far from it. */
export const traceMargin_ns = BigInt(margin_h) * hour_ns

/** Hours that are kept beyond a window: one more than is read, so that no read is trimmed. */
export const keptBeyond_h = grace_h + margin_h + 1

/** The instants between which rows are kept in PostgreSQL. Nanoseconds since 1970. */
export function keptSpan(now_ms: number, { hot_window_hours }: Pick<Routing, 'hot_window_hours'>) {
  const now = BigInt(now_ms) * ns_per_ms
  return {
    from: now - BigInt(hot_window_hours + keptBeyond_h) * hour_ns,
    to: now + BigInt(ahead_h + margin_h + 1) * hour_ns,
  }
}

/** The instants between which a query's window may lie to be answered by PostgreSQL. */
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

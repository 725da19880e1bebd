import { z } from 'zod'
import { expected } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import type { storeCapabilities } from '../storage/index.ts'

export type StoreName = keyof typeof storeCapabilities

export const storeNames = ['clickhouse', 'postgres'] as const satisfies readonly StoreName[]

/** Classes of queries, by their cost. */
export const queryClasses = ['point', 'list', 'aggregate', 'explorer'] as const

export type QueryClass = (typeof queryClasses)[number]

/** The store that answers a class of queries. `auto`: see `autoRoutes`. */
const routeChoices = ['auto', ...storeNames] as const

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
export const traceMarginNs = BigInt(margin_h) * hour_ns

/** Hours kept before a window: one more than queries read, so that no read meets a trim. */
export const keptBeyondHours = grace_h + margin_h + 1

/** Returns the times whose rows PostgreSQL keeps, in nanoseconds since 1970. */
export function keptSpan(now_ms: number, { hot_window_hours }: Pick<Routing, 'hot_window_hours'>) {
  const now = BigInt(now_ms) * ns_per_ms
  return {
    from: now - BigInt(hot_window_hours + keptBeyondHours) * hour_ns,
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

const { min, max } = hotWindowHours

const choice = z
  .enum(routeChoices, { error: expected(`one of ${routeChoices.join(', ')}`) })
  .meta({ id: 'StoreChoice' })

const routesBody = record('StoreRoutesRequest', {
  point: choice.default('auto').describe('Store for look-ups by id.'),
  list: choice.default('auto').describe('Store for pages of records.'),
  aggregate: choice.default('auto').describe('Store for sums, percentiles and buckets.'),
  explorer: choice.default('auto').describe('Store for whole traces.'),
})

/**
 * The body of PUT: a whole routing, in which omitted fields take their defaults, or
 * `apply_scorecard` alone, which sets the routes and keeps all other fields.
 */
export const routingBody = z
  .strictObject({
    write_stores: z
      .array(z.enum(storeNames, { error: expected(`one of ${storeNames.join(', ')}`) }))
      .max(storeNames.length)
      .optional()
      .describe(
        'Stores to write rows to; must include ClickHouse, which holds all rows. Default: ClickHouse alone.',
      ),
    hot_window_hours: z
      .int({ error: expected(`a whole number from ${min} to ${max}`) })
      .min(min, { error: expected(`${min} to ${max}`) })
      .max(max, { error: expected(`${min} to ${max}`) })
      .optional()
      .describe(
        `Hours of rows that PostgreSQL keeps, ${min}–${max}. Default: ${hotWindowHours.default}.`,
      ),
    routes: routesBody
      .optional()
      .describe(
        'Preferred store for each class of queries. `auto`: the faster store, as measured.',
      ),
    fallback: z
      .boolean()
      .optional()
      .describe('Whether another store answers when the preferred one can not. Default: true.'),
    apply_scorecard: z
      .literal(true)
      .optional()
      .describe(
        'Applies the routes that the scorecard recommends and keeps all other fields; allowed alone only.',
      ),
  })
  .superRefine(({ apply_scorecard, ...given }, context) => {
    const fault = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message })
    if (apply_scorecard) {
      for (const name of Object.keys(given)) fault([name], 'expected apply_scorecard alone')
      return
    }
    const { write_stores = [...defaultRouting.write_stores], routes } = given
    if (!write_stores.includes('clickhouse')) {
      fault(['write_stores'], 'expected clickhouse among them: it holds all rows')
    }
    write_stores.forEach((store, at) => {
      if (write_stores.indexOf(store) < at) {
        fault(['write_stores', at], `got ${JSON.stringify(store)} twice, expected each store once`)
      }
    })
    if (write_stores.includes('postgres')) return
    for (const each of queryClasses) {
      if (routes?.[each] !== 'postgres') continue
      const message =
        'got "postgres", which is not in write_stores: add it there, or choose another store'
      fault(['routes', each], message)
    }
  })
  .meta({ id: 'StoreRoutingRequest' })

/** The routes in replies. */
const routesReply = record('StoreRoutes', {
  point: choice,
  list: choice,
  aggregate: choice,
  explorer: choice,
})

/** The reply of GET and PUT. */
export const routingSchema = record('StoreRouting', {
  project_id: z.uuid(),
  write_stores: z.array(z.enum(storeNames)),
  hot_window_hours: z.int(),
  routes: routesReply,
  fallback: z.boolean(),
  version: z.int().describe('0 for the default, incremented by each change.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable().describe('`user:<id>` of the last change.'),
  hot_window: z
    .strictObject({
      readable_from: z.iso
        .datetime()
        .nullable()
        .describe(
          'PostgreSQL can answer for records from this time; null if it can not answer yet.',
        ),
      backfill: z
        .strictObject({
          job_id: z.uuid(),
          state: z.enum(['queued', 'running', 'succeeded', 'failed']),
          done: z.int().describe('Hours copied.'),
          of: z.int().nullable().describe('Hours to copy; null before the run begins.'),
          rows: z.int().describe('Rows copied.'),
          error: z.string().nullable(),
        })
        .meta({ id: 'Backfill' })
        .nullable()
        .describe('Run that fills the hot window.'),
      incomplete_days: z
        .array(record('IncompleteDay', { day: z.iso.date(), reason: z.string() }))
        .describe('Days with missing rows in PostgreSQL; a backfill repairs them automatically.'),
    })
    .meta({ id: 'HotWindow' })
    .nullable()
    .describe('State of the hot window in PostgreSQL; null if the project does not write there.'),
})

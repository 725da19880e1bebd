import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../kernel/time.ts'
import { checkWindow, instantParameter } from '../../model/list-query.ts'
import { record, windowSchema } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { OnServed, Served } from '../query/index.ts'
import { queryClasses, storeNames } from './contract.ts'
import { bucketOf, durationBuckets, percentileOf, rounded } from './durations.ts'
import {
  addRouteStats,
  keptDays,
  type RecordedQuery,
  type RouteCounts,
  type RouteDb,
  type RouteKey,
  readRouteStats,
  recordQueries,
} from './route-stats-store.ts'

export type RouteStatsDeps = { db: RouteDb; clock: Clock; stats: Pick<RouteStats, 'flush'> }

/**
 * GET /api/v2/observability/query/route-stats: returns statistics of queries by class and store.
 */
export function getRouteStats({ db, clock, stats }: RouteStatsDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/query/route-stats',
    id: 'getRouteStats',
    summary: 'Statistics of queries by class and store',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    query: querySchema,
    reply: replySchema,
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      await stats.flush()
      const { from, to } = windowOf(query, clock.now_ms())
      const rows = await readRouteStats(db, { project_id, from, to })
      return { window: { from, to }, routes: rows.map(toLiveStats) }
    },
  })
}

const querySchema = z.strictObject({
  from: instantParameter(
    'Start of the window, rounded down to the minute. Default: 24 hours before `to`.',
  ),
  to: instantParameter('End of the window, rounded down to the minute. Default: now.'),
})

const replySchema = record('RouteStatsReply', {
  window: windowSchema,
  routes: z
    .array(
      record('RouteStats', {
        query_class: z.enum(queryClasses),
        store: z.enum(storeNames),
        requests: z.int(),
        errors: z
          .int()
          .describe(
            'Queries that the store failed to answer. Queries over a limit are not errors.',
          ),
        error_rate: z.number().describe('Share of failed queries, 0 to 1.'),
        fallbacks: z.int().describe('Queries answered in place of another store.'),
        p50_ms: z
          .number()
          .nullable()
          .describe('Median duration of answered queries, at most 10 % off.'),
        p95_ms: z.number().nullable().describe('95th percentile, at most 10 % off.'),
        rows_read_avg: z
          .number()
          .nullable()
          .describe('Mean rows read; null if the store does not report them.'),
      }),
    )
    .describe(`One entry for each class and store with queries. Kept for ${keptDays} days.`),
})

const day_ms = 86_400_000

const minute_ms = 60_000

const ns_per_ms = 1_000_000n

function windowOf({ from, to }: z.output<typeof querySchema>, now_ms: number) {
  checkWindow({ from, to })
  const to_ms = to === undefined ? now_ms + minute_ms : Number(to / ns_per_ms)
  const from_ms = from === undefined ? to_ms - day_ms : Number(from / ns_per_ms)
  return { from: iso(from_ms), to: iso(to_ms) }
}

function iso(at_ms: number): string {
  return new Date(at_ms - (at_ms % minute_ms)).toISOString()
}

/** Computes rates and percentiles of one class and store. */
export function toLiveStats(row: RouteKey & RouteCounts) {
  const { query_class, store, requests, errors, fallbacks, histogram } = row
  return {
    query_class,
    store,
    requests,
    errors,
    fallbacks,
    error_rate: rounded(errors / requests),
    p50_ms: percentileOf(histogram, 0.5),
    p95_ms: percentileOf(histogram, 0.95),
    rows_read_avg: row.rows_read_of === 0 ? null : Math.round(row.rows_read / row.rows_read_of),
  }
}

/** Counts the queries of this process and records them. */
type RouteStats = {
  onServed: OnServed
  /** Writes the counts. Logs and drops them if the write fails; never rejects. */
  flush(): Promise<void>
  /** Writes the remaining counts and stops. */
  stop(): Promise<void>
}

const flushEveryMs = 5_000

/** Maximum rows of statistics, and of queries, waiting to be written; more are not counted. */
const waiting_max = 5_000

/** Longer queries are not recorded. */
const body_bytes_max = 16_384

type Minute = RouteCounts &
  Pick<Served, 'project_id' | 'query_class' | 'store'> & { minute: string }

type RouteStatsOptions = { db: RouteDb; clock: Clock; logger: Logger }

/** Starts counting. Writes nothing until a query has run. */
export function startRouteStats({ db, clock, logger }: RouteStatsOptions): RouteStats {
  let minutes = new Map<string, Minute>()
  let queries = new Map<string, RecordedQuery>()
  let writing: Promise<void> = Promise.resolve()
  const write = async () => {
    const [rows, recorded] = [[...minutes.values()], [...queries.values()]]
    minutes = new Map()
    queries = new Map()
    await addRouteStats(db, rows)
    await recordQueries(db, recorded)
  }
  const flush = () => {
    writing = writing.then(write).catch((error: unknown) => {
      logger.warn({ err: error }, 'Writing statistics of queries failed; they are lost')
    })
    return writing
  }
  const timer = setInterval(() => void flush(), flushEveryMs).unref()
  return {
    onServed: (served) => {
      // A client's disconnect says nothing about a store.
      if (served.failed === 'client_left') return
      const now_ms = clock.now_ms()
      count(minutes, served, new Date(now_ms - (now_ms % minute_ms)).toISOString())
      if (served.failed === null) recordQuery(queries, served, new Date(now_ms).toISOString())
    },
    flush,
    stop: async () => {
      clearInterval(timer)
      await flush()
    },
  }
}

function count(minutes: Map<string, Minute>, served: Served, minute: string): void {
  const { project_id, query_class, store, failed, fallback_reason, rows_read } = served
  const key = `${project_id} ${minute} ${query_class} ${store}`
  const known = minutes.get(key)
  if (known === undefined && minutes.size >= waiting_max) return
  const counts = known ?? { project_id, query_class, store, minute, ...noCounts() }
  counts.requests += 1
  if (failed !== null) counts.errors += isFault(failed) ? 1 : 0
  else {
    const bucket = bucketOf(served.duration_ms)
    counts.histogram[bucket] = (counts.histogram[bucket] ?? 0) + 1
  }
  if (fallback_reason !== null) counts.fallbacks += 1
  if (rows_read !== null) {
    counts.rows_read += rows_read
    counts.rows_read_of += 1
  }
  minutes.set(key, counts)
}

/** Returns false for a query over a limit: it would fail in any store. */
function isFault(failed: string): boolean {
  return failed !== 'query_too_expensive'
}

function noCounts(): RouteCounts {
  const histogram = new Array<number>(durationBuckets).fill(0)
  return { requests: 0, errors: 0, fallbacks: 0, rows_read: 0, rows_read_of: 0, histogram }
}

/** Records a query. Queries that differ only in their window are one, as a dashboard's are. */
function recordQuery(queries: Map<string, RecordedQuery>, served: Served, last_at: string): void {
  const { project_id, query_class, duration_ms } = served
  const { kind } = served.query
  const body = served.query.body as Record<string, unknown>
  const { window: _window, ...rest } = body
  const text = JSON.stringify([kind, rest])
  if (text.length > body_bytes_max) return
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const key = `${project_id} ${hash}`
  const known = queries.get(key)
  if (known === undefined && queries.size >= waiting_max) return
  queries.set(key, {
    project_id,
    hash,
    kind,
    query_class,
    body,
    last_at,
    times: (known?.times ?? 0) + 1,
    slowest_ms: Math.max(known?.slowest_ms ?? 0, duration_ms),
  })
}

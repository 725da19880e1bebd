import { createHash } from 'node:crypto'
import type { Clock } from '../../kernel/time.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { OnServed, Served } from '../query/index.ts'
import { bucketOf, durationBuckets } from './durations.ts'
import {
  addRouteStats,
  type RecordedQuery,
  type RouteCounts,
  type RouteDb,
  recordQueries,
} from './route-stats-store.ts'

/** Counts what is served, and keeps the queries, of this process. */
export type RouteStats = {
  onServed: OnServed
  /** Writes down what was counted; what can't be written is lost, and logged. Never rejects. */
  flush(): Promise<void>
  /** Writes the rest and ends. */
  stop(): Promise<void>
}

const flushEvery_ms = 5_000
/** Rows of statistics and queries that wait at once, at most: more are not counted. */
const waiting_max = 5_000
/** A longer query is not kept. */
const body_bytes_max = 16_384
const minute_ms = 60_000

type Minute = RouteCounts &
  Pick<Served, 'project_id' | 'query_class' | 'store'> & { minute: string }

/** Starts counting; nothing is written before something was served. */
export function startRouteStats(about: { db: RouteDb; clock: Clock; logger: Logger }): RouteStats {
  const { db, clock, logger } = about
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
      logger.warn({ err: error }, 'statistics of reads are lost')
    })
    return writing
  }
  const timer = setInterval(() => void flush(), flushEvery_ms).unref()
  return {
    onServed: (served) => {
      // The client's leaving says nothing of a store.
      if (served.failed === 'client_left') return
      const now_ms = clock.now_ms()
      count(minutes, served, new Date(now_ms - (now_ms % minute_ms)).toISOString())
      if (served.failed === null) keep(queries, served, new Date(now_ms).toISOString())
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
  const counts = known ?? { project_id, query_class, store, minute, ...nothing() }
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

/** A query over a limit failed for what it asks, in whichever store. */
function isFault(failed: string): boolean {
  return failed !== 'query_too_expensive'
}

function nothing(): RouteCounts {
  const histogram = new Array<number>(durationBuckets).fill(0)
  return { requests: 0, errors: 0, fallbacks: 0, rows_read: 0, rows_read_of: 0, histogram }
}

/** Queries that differ in their window alone are one: a dashboard asks for another each minute. */
function keep(queries: Map<string, RecordedQuery>, served: Served, last_at: string): void {
  const { project_id, query_class, duration_ms } = served
  const { kind } = served.query
  const body = served.query.body as Record<string, unknown>
  const { window: _window, ...words } = body
  const text = JSON.stringify([kind, words])
  if (text.length > body_bytes_max) return
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const key = `${project_id} ${hash}`
  const known = queries.get(key)
  if (known === undefined && queries.size >= waiting_max) return
  queries.set(key, {
    ...{ project_id, hash, kind, query_class, body, last_at },
    times: (known?.times ?? 0) + 1,
    slowest_ms: Math.max(known?.slowest_ms ?? 0, duration_ms),
  })
}

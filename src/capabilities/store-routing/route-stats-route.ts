import { z } from 'zod'
import type { Clock } from '../../kernel/time.ts'
import { checkWindow, instantParameter } from '../../model/list-query.ts'
import { record, windowSchema } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { queryClasses, storeNames } from './contract.ts'
import { percentileOf, rounded } from './durations.ts'
import type { RouteStats } from './route-stats.ts'
import {
  keptDays,
  type RouteCounts,
  type RouteDb,
  type RouteKey,
  readRouteStats,
} from './route-stats-store.ts'

export type RouteStatsDeps = { db: RouteDb; clock: Clock; stats: Pick<RouteStats, 'flush'> }

/** GET /api/v2/observability/query/route-stats: how reads went, by class and store. */
export function getRouteStats({ db, clock, stats }: RouteStatsDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/query/route-stats',
    id: 'getRouteStats',
    summary: 'How reads went, by kind of read and store',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    query: querySchema,
    reply: replySchema,
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      await stats.flush()
      const { from, to } = windowOf(query, clock.now_ms())
      const rows = await readRouteStats(db, { project_id, from, to })
      return { window: { from, to }, routes: rows.map(shownStats) }
    },
  })
}

const querySchema = z.strictObject({
  from: instantParameter(`Reads since then, by whole minutes; 24 hours before \`to\`.`),
  to: instantParameter('Reads before then, by whole minutes; now when left out.'),
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
            'Requests that the store failed to answer. Queries over a limit are not errors.',
          ),
        error_rate: z.number().describe('0 to 1.'),
        fallbacks: z.int().describe('Those answered in place of another store.'),
        p50_ms: z.number().nullable().describe('Of those answered; at most a tenth off.'),
        p95_ms: z.number().nullable(),
        rows_read_avg: z.number().nullable().describe('Null: the store does not tell.'),
      }),
    )
    .describe(`By kind of read and store. Kept for ${keptDays} days.`),
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

/** What is told of a class and store. */
export function shownStats(row: RouteKey & RouteCounts) {
  const { query_class, store, requests, errors, fallbacks, histogram } = row
  return {
    ...{ query_class, store, requests, errors, fallbacks },
    error_rate: rounded(errors / requests),
    p50_ms: percentileOf(histogram, 0.5),
    p95_ms: percentileOf(histogram, 0.95),
    rows_read_avg: row.rows_read_of === 0 ? null : Math.round(row.rows_read / row.rows_read_of),
  }
}

import { z } from 'zod'
import type { Clock } from '../../kernel/time.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { findJobs, type JobDb } from '../jobs/index.ts'
import { type BenchmarkProgress, benchmarkKind } from './benchmark-job.ts'
import { queryClasses, type Routing, storeNames } from './contract.ts'
import { shownStats } from './route-stats-route.ts'
import { readRouteStats } from './route-stats-store.ts'
import { scorecardOf, type Workload } from './scorecard.ts'
import type { RoutingDb } from './store.ts'

export type ScorecardDeps = { db: RoutingDb; clock: Clock }

/** GET /api/v2/observability/store-selection/scorecard: which store each kind of read should go to. */
export function getScorecard(deps: ScorecardDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/store-selection/scorecard',
    id: 'getStoreScorecard',
    summary: 'Which store each kind of read should go to, and why',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    reply: scorecardSchema,
    errors: ['store_unavailable'],
    handle: ({ caller: { project_id } }) => readScorecard(deps, project_id),
  })
}

const counts = record('StoreCounts', { clickhouse: z.int(), postgres: z.int() })
const figure = z.number().nullable()

const scorecardSchema = record('StoreScorecard', {
  benchmark: z
    .strictObject({ job_id: z.uuid(), ended_at: z.iso.datetime() })
    .meta({ id: 'ScorecardBenchmark' })
    .nullable()
    .describe('The latest benchmark that ended well; null when there is none.'),
  live_since: z.iso.datetime().describe('Live figures are of reads since then.'),
  workloads: z.array(
    record('WorkloadScore', {
      query_class: z.enum(queryClasses),
      verdict: z.enum(['recommended', 'not_enough_evidence']),
      recommended: z.enum(storeNames).nullable(),
      confidence: z.number().describe('0 to 1.'),
      reason: z.string(),
      benchmark: record('WorkloadBenchmark', {
        cases: z.int().describe('Queries that both stores answered.'),
        unequal: z.int().describe('Of these, those that they answered differently.'),
        errors: counts,
        won: counts,
        ratio: figure.describe("Mean of PostgreSQL's medians over ClickHouse's."),
      }),
      live: z.array(
        record('WorkloadStoreStats', {
          query_class: z.enum(queryClasses),
          store: z.enum(storeNames),
          requests: z.int(),
          errors: z.int(),
          error_rate: z.number(),
          fallbacks: z.int(),
          p50_ms: figure,
          p95_ms: figure,
          rows_read_avg: figure,
        }),
      ),
    }),
  ),
})

const day_ms = 86_400_000

/** What is known of a project by now. Throws `store_unavailable`. */
export async function readScorecard({ db, clock }: ScorecardDeps, project_id: string) {
  const now_ms = clock.now_ms()
  const states = ['succeeded'] as const
  const [latest] = await findJobs(db as JobDb, {
    project_id,
    kind: benchmarkKind,
    states,
    limit: 1,
  })
  const [from, to] = [new Date(now_ms - day_ms).toISOString(), new Date(now_ms).toISOString()]
  const live = await readRouteStats(db, { project_id, from, to })
  const { cases = [] } = (latest?.result ?? {}) as Partial<BenchmarkProgress>
  return {
    benchmark: latest?.ended_at ? { job_id: latest.id, ended_at: latest.ended_at } : null,
    live_since: from,
    workloads: scorecardOf(cases, live.map(shownStats)),
  }
}

/** The routes with what is recommended; kinds of reads of which too little is known stay. */
export function recommendedRoutes(
  routes: Routing['routes'],
  workloads: readonly Workload[],
): Routing['routes'] {
  const next = { ...routes }
  for (const { query_class, recommended } of workloads) {
    if (recommended !== null) next[query_class] = recommended
  }
  return next
}

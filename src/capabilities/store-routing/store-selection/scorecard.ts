import { z } from 'zod'
import type { Clock } from '../../../kernel/time.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { findJobs, type JobDb } from '../../jobs/index.ts'
import {
  type QueryClass,
  queryClasses,
  type Routing,
  type StoreName,
  storeNames,
} from '../contract.ts'
import { rounded } from '../durations.ts'
import { toLiveStats } from '../route-stats.ts'
import { readRouteStats } from '../route-stats-store.ts'
import type { RoutingDb } from '../store.ts'
import {
  type BenchmarkProgress,
  benchmarkKind,
  type CaseResult,
  pairs_min,
} from '../store-benchmark/benchmark-job.ts'
import { type Comparison, combine, comparePairs } from '../store-benchmark/compare-pairs.ts'

export type ScorecardDeps = { db: RoutingDb; clock: Clock }

/** GET /api/v2/observability/store-selection/scorecard: recommends a store for each query class. */
export function getScorecard(deps: ScorecardDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/store-selection/scorecard',
    id: 'getStoreScorecard',
    summary: 'Recommended store for each class of queries',
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
    .describe('Latest successful benchmark; null without one.'),
  live_since: z.iso.datetime().describe('Start of the live statistics.'),
  workloads: z.array(
    record('WorkloadScore', {
      query_class: z.enum(queryClasses),
      verdict: z.enum(['recommended', 'not_enough_evidence']),
      recommended: z.enum(storeNames).nullable(),
      confidence: z.number().describe('Confidence in the recommendation, 0 to 1.'),
      reason: z.string(),
      benchmark: record('WorkloadBenchmark', {
        cases: z
          .int()
          .describe(`Queries that both stores answered in at least ${pairs_min} pairs of runs.`),
        answered: z.int().describe('Queries that both stores answered, in any number of runs.'),
        unequal: z.int().describe('Queries that the stores answered with different rows.'),
        errors: counts,
        won: counts,
        pairs: z.int().describe('Fewest pairs of runs of a query that counts.'),
        ratio: figure.describe(
          "Geometric mean of PostgreSQL's durations divided by ClickHouse's in pairs of runs; null without cases.",
        ),
        ratio_low: figure.describe(
          'Low end of its 95 % interval, for the queries of the benchmark.',
        ),
        ratio_high: figure.describe('High end of its 95 % interval.'),
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

/** Reads a project's latest benchmark and live statistics. Throws `store_unavailable`. */
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
    workloads: makeScorecard(cases, live.map(toLiveStats)),
  }
}

/** Applies the recommendations to routes. Classes without a recommendation keep their route. */
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

/** Recent statistics of a class on one store. */
export type LiveStats = ReturnType<typeof toLiveStats>

/** A benchmark's results for a class of queries. */
type BenchmarkEvidence = {
  /** Queries that both stores answered in enough pairs of runs. */
  cases: number
  /** Queries that both stores answered, in any number of pairs. */
  answered: number
  /** Queries to which the stores answered different rows. */
  unequal: number
  /** Runs that failed, by store. */
  errors: Record<StoreName, number>
  /** Queries in which the store was faster, by store. */
  won: Record<StoreName, number>
  /** Below 1, PostgreSQL is faster. */
} & Comparison

/** The recommendation for a class of queries. */
type Workload = {
  query_class: QueryClass
  verdict: 'recommended' | 'not_enough_evidence'
  recommended: StoreName | null
  /** 0 to 1. */
  confidence: number
  reason: string
  benchmark: BenchmarkEvidence
  live: LiveStats[]
}

/** Minimum queries that both stores answered, for a recommendation. */
const cases_min = 2

/** Number of queries above which confidence no longer grows. */
const cases_enough = 5

/** Minimum requests of each store for live statistics to count. */
const live_min = 30

/**
 * Up to this factor the stores are equally fast, and ClickHouse, which has all rows, is recommended.
 */
const equal_max = 1.1

/** Recommends stores from the latest benchmark and the live statistics. Pure. */
export function makeScorecard(
  cases: readonly CaseResult[],
  live: readonly LiveStats[],
): Workload[] {
  return queryClasses.map((query_class) => {
    const own = live.filter((each) => each.query_class === query_class)
    const evidence = summariseCases(cases.filter((each) => each.query_class === query_class))
    return { query_class, ...recommendStore(evidence, own), benchmark: evidence, live: own }
  })
}

type Verdict = Pick<Workload, 'verdict' | 'recommended' | 'confidence' | 'reason'>

function recommendStore(evidence: BenchmarkEvidence, live: readonly LiveStats[]): Verdict {
  const { cases, answered, unequal, errors, won, ratio, ratio_low, ratio_high } = evidence
  if (unequal > 0) {
    const reason = `The stores answered ${unequal} of ${answered} queries differently.`
    return recommend('clickhouse', 1, reason)
  }
  if (errors.postgres > errors.clickhouse) {
    return recommend('clickhouse', 0.9, `${errors.postgres} runs failed on PostgreSQL.`)
  }
  if (cases < cases_min || ratio === null || ratio_low === null || ratio_high === null) {
    return unknown(
      `${cases} of ${answered} queries that both stores answered have ${pairs_min} pairs of runs; at least ${cases_min} are needed.`,
    )
  }
  if (ratio_low > 1 / equal_max && ratio_high < equal_max) {
    return recommend('clickhouse', 0.5, 'Both stores are equally fast; ClickHouse has all rows.')
  }
  const [low, high] = [rounded(ratio_low), rounded(ratio_high)]
  if ((ratio_low <= 1 && ratio_high >= 1) || (ratio > 1 / equal_max && ratio < equal_max)) {
    return unknown(
      `The benchmark cannot tell which store is faster: PostgreSQL took ${low} to ${high} times as long as ClickHouse.`,
    )
  }
  const store = ratio < 1 ? 'postgres' : 'clickhouse'
  const enough = Math.min(1, cases / cases_enough)
  const confidence = rounded((won[store] / cases) * enough * agreement(store, live))
  const range = ratio < 1 ? [1 / ratio_high, 1 / ratio_low] : [ratio_low, ratio_high]
  const [least = 1, most = 1] = range.map(rounded)
  const reason = `It was faster in ${won[store]} of ${cases} queries, by a factor of ${least} to ${most}.`
  return recommend(store, confidence, reason)
}

function unknown(reason: string): Verdict {
  return { verdict: 'not_enough_evidence', recommended: null, confidence: 0, reason }
}

function recommend(recommended: StoreName, confidence: number, reason: string): Verdict {
  return { verdict: 'recommended', recommended, confidence, reason }
}

/** Returns the weight of live statistics: 1 if they agree, 0.5 if they disagree, 0.8 if unknown. */
function agreement(store: StoreName, live: readonly LiveStats[]): number {
  const p50 = (of: StoreName) => {
    const seen = live.find((each) => each.store === of && each.requests >= live_min)
    return seen?.p50_ms ?? undefined
  }
  const [clickhouse, postgres] = [p50('clickhouse'), p50('postgres')]
  if (clickhouse === undefined || postgres === undefined) return 0.8
  return (postgres < clickhouse ? 'postgres' : 'clickhouse') === store ? 1 : 0.5
}

function summariseCases(cases: readonly CaseResult[]): BenchmarkEvidence {
  const errors = { clickhouse: 0, postgres: 0 }
  const won = { clickhouse: 0, postgres: 0 }
  const answered = cases.filter(({ stores }) => {
    return storeNames.every((store) => medianOf(stores, store) !== null)
  })
  for (const { stores } of cases) {
    for (const { store, errors: failed } of stores) errors[store] += failed
  }
  // Benchmarks of earlier versions have no pairs.
  const counted = answered.filter(({ pairs = 0 }) => pairs >= pairs_min)
  for (const { ratio } of counted) won[(ratio ?? 1) < 1 ? 'postgres' : 'clickhouse'] += 1
  const unequal = answered.filter(({ equal }) => equal === false).length
  const combined = counted.length === 0 ? comparePairs([], []) : combine(counted)
  return {
    cases: counted.length,
    answered: answered.length,
    unequal,
    errors,
    won,
    ...combined,
  }
}

function medianOf(stores: CaseResult['stores'], store: StoreName): number | null {
  return stores.find((each) => each.store === store)?.median_ms ?? null
}

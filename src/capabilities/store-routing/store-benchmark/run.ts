import { z } from 'zod'
import type { Clock } from '../../../kernel/time.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route, requesterOf } from '../../../platform/http/index.ts'
import {
  enqueueJob,
  type Job,
  type JobDb,
  jobFields,
  jobRunRoutes,
  shownJob,
} from '../../jobs/index.ts'
import { queryClasses, storeNames } from '../contract.ts'
import type { RoutingDb } from '../store.ts'
import { type BenchmarkProgress, benchmarkKind, pairs_min } from './benchmark-job.ts'

/** POST /api/v2/observability/store-benchmark/run: starts a job that compares the stores. */
export function runStoreBenchmark({ db, clock }: BenchmarkDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/store-benchmark/run',
    id: 'runStoreBenchmark',
    summary: 'Run the same queries on each store and compare',
    status: 202,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    body: record('RunStoreBenchmarkRequest', {
      runs: z
        .int()
        .min(1)
        .max(50)
        .default(pairs_min)
        .describe(
          `Counted runs of each query on each store, 1–50. The scorecard needs ${pairs_min}. A run before them warms up.`,
        ),
      queries_max: z
        .int()
        .min(0)
        .max(40)
        .default(20)
        .describe(
          "Maximum recorded queries in addition to the suite, 0–40: half the project's slowest, half the latest.",
        ),
    }),
    reply: runSchema,
    errors: ['job_running', 'store_unavailable'],
    handle: async ({ body, caller }) => {
      const job = await enqueueJob(db as JobDb, {
        project_id: caller.project_id,
        kind: benchmarkKind,
        params: body,
        requested_by: requesterOf(caller),
        exclusive_key: benchmarkKind,
        clock,
      })
      return new Answer(toRunReply(job), { status: 202 })
    },
  })
}

export type BenchmarkDeps = { db: RoutingDb; clock: Clock }

/** GET /api/v2/observability/store-benchmark/runs, and one run: benchmarks, newest first. */
export function storeBenchmarkRoutes({ db }: BenchmarkDeps): Route[] {
  return jobRunRoutes(db as JobDb, {
    kind: benchmarkKind,
    url: '/api/v2/observability/store-benchmark/runs',
    item_url: '/api/v2/observability/store-benchmark/runs/{job_id}',
    list: {
      id: 'listStoreBenchmarks',
      summary: 'Benchmarks of a project, newest first',
      reply: 'StoreBenchmarkList',
    },
    get: { id: 'getStoreBenchmark', summary: 'Progress or result of a benchmark' },
    run: runSchema,
    toRun: toRunReply,
  })
}

const figure = z.number().nullable()

const runSchema = record('StoreBenchmark', {
  ...jobFields,
  runs: z.int(),
  queries_max: z.int(),
  done: z.int().describe('Queries completed.'),
  of: z.int().nullable().describe('Queries to run; null before the run begins.'),
  unreadable: z.int().describe('Recorded queries that are no longer valid.'),
  stopped_early: z
    .boolean()
    .describe('Whether the run reached its time limit before the last query.'),
  cases: z.array(
    record('BenchmarkCase', {
      name: z.string().describe('Name in the suite, or hash of a recorded query.'),
      origin: z.enum(['suite', 'recorded']),
      kind: z.enum(['query', 'aggregate']),
      query_class: z.enum(queryClasses),
      query: z.record(z.string(), z.unknown()).describe('Body of the query.'),
      equal: z
        .boolean()
        .nullable()
        .describe('Whether the stores returned equal rows; null if fewer than two answered.'),
      pairs: z.int().default(0).describe('Runs that both stores answered, one after the other.'),
      ratio: figure
        .default(null)
        .describe("Geometric mean of PostgreSQL's durations divided by ClickHouse's."),
      ratio_low: figure.default(null).describe('Low end of its 95 % interval.'),
      ratio_high: figure.default(null).describe('High end of its 95 % interval.'),
      stores: z.array(
        record('BenchmarkedStore', {
          store: z.enum(storeNames),
          runs: z.int(),
          errors: z.int(),
          error: z.string().nullable(),
          median_ms: figure,
          p95_ms: figure,
          rows_read: figure.describe('Rows read; null if the store does not report them.'),
          rows: figure,
        }),
      ),
    }),
  ),
})

function toRunReply(job: Job): z.input<typeof runSchema> {
  const state = (job.result ?? job.progress ?? {}) as Partial<BenchmarkProgress>
  const { done = 0, of = null, cases = [], unreadable = 0, stopped_early = false } = state
  return {
    ...shownJob(job),
    runs: Number(job.params['runs']),
    queries_max: Number(job.params['queries_max']),
    done,
    of,
    unreadable,
    stopped_early,
    cases,
  }
}

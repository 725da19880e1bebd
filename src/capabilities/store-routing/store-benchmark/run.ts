import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import { enqueueJob, type JobDb, requesterOf } from '../../jobs/index.ts'
import { benchmarkKind } from './benchmark-job.ts'
import { type BenchmarkDeps, runSchema, toRunReply } from './runs.ts'

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
      runs: z.int().min(1).max(10).default(5).describe('Runs of each query, 1–10.'),
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

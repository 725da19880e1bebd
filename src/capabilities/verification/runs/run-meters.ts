import type { Metrics } from '../../../platform/telemetry/index.ts'
import type { Run } from './store.ts'
import type { VerifiedRun } from './write-run.ts'

/** Metrics of runs. */
export type RunMeters = {
  ended(run: Run, state: 'failed' | 'cancelled', now_ms: number): void
  verified(verified: VerifiedRun, now_ms: number): void
}

const nanoPerDollar = 1e9

/** Registers the metrics; once per process. */
export function runMeters(metrics: Metrics): RunMeters {
  const runs = metrics.counter({
    name: 'looptrace_verification_runs_total',
    help: 'Verification runs that this process ended, by state: verified, failed.',
    labels: ['state'],
  })
  const seconds = metrics.histogram({
    name: 'looptrace_verification_run_duration_seconds',
    help: 'Seconds from the request of a verification run to its end.',
    buckets: [0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 600],
  })
  const claims = metrics.counter({
    name: 'looptrace_verification_claims_total',
    help: 'Verified claims by verdict.',
    labels: ['verdict'],
  })
  const dollars = metrics.counter({
    name: 'looptrace_verification_cost_dollars_total',
    help: 'Cost of the priced calls of verified runs, in US dollars.',
  })
  const ended = (run: Run, state: string, now_ms: number) => {
    runs.inc({ state })
    seconds.observe(Math.max(0, now_ms - Date.parse(run.created_at)) / 1_000)
  }
  return {
    ended,
    verified: ({ run, claims: checked }, now_ms) => {
      ended(run, 'verified', now_ms)
      for (const { verdict } of checked) claims.inc({ verdict })
      dollars.inc(run.cost_nano_dollars / nanoPerDollar)
    },
  }
}

import { z } from 'zod'
import { startJobs } from '../../src/capabilities/jobs/index.ts'
import type { CheckClaim, RunsDb, Verifier } from '../../src/capabilities/verification/contract.ts'
import { runMeters } from '../../src/capabilities/verification/runs/run-meters.ts'
import {
  type VerificationDeps,
  verificationHandler,
} from '../../src/capabilities/verification/runs/run-verification.ts'
import {
  findRun,
  type Run,
  type RunRequest,
  startRun,
} from '../../src/capabilities/verification/runs/store.ts'
import { isoFromNs, systemClock } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import type { DetectionBench } from './detection.ts'
import { eventually } from './eventually.ts'
import { quickJobs } from './job-workers.ts'

/** A verifier of a test, `kb` by default. */
export function verifierOf(check: CheckClaim, more: Partial<Verifier> = {}): Verifier {
  return {
    name: 'kb',
    description: 'Of a test.',
    cost: 'free',
    options: z.strictObject({}),
    unavailable: () => undefined,
    estimate: () => ({ calls: 0, nano_dollars: 0n }),
    open: async () => check,
    ...more,
  }
}

/** Supports a claim when the agent saw all of its values; decides nothing about values in doubt. */
export const byProvenance = verifierOf(async ({ values }) => {
  const missing = values.find(({ verdict }) => verdict === 'unsupported')
  if (missing !== undefined) {
    const note = `${missing.value}: not found in what the agent saw`
    return { verdict: 'not_found', confidence: 0.9, method: 'provenance', evidence: [], note }
  }
  const evidence = values.flatMap((value) => value.evidence)
  if (values.some(({ verdict }) => verdict === 'not_checked')) {
    return { verdict: 'unverifiable', confidence: 0, method: 'provenance', evidence, note: '' }
  }
  return { verdict: 'supported', confidence: 0.9, method: 'provenance', evidence, note: 'seen' }
})

const logger = createLogger({ role: 'test', level: 'silent' })

type Deps = Partial<Omit<VerificationDeps, 'verifiers'>> & { verifiers?: readonly Verifier[] }

/** Dependencies of runs on the stores of a bench. */
export function runDeps(
  bench: Pick<DetectionBench, 'db' | 'store'>,
  { verifiers = [byProvenance], ...more }: Deps = {},
): VerificationDeps {
  return {
    db: bench.db as unknown as RunsDb,
    store: bench.store,
    clock: systemClock,
    logger,
    meters: runMeters(createMetrics()),
    verifiers: new Map(verifiers.map((one) => [one.name, one])),
    nano_dollars_per_day_max: 1_000_000_000n,
    limits: { run_ms: 20_000, check_ms: 5_000, cancel_poll_ms: 50 },
    ...more,
  }
}

const started = new Set<{ stop(): Promise<unknown> }>()

/** Stops the workers that `startRuns` started. A test that fails leaves its worker running. */
export async function stopRuns(): Promise<void> {
  const workers = [...started]
  started.clear()
  await Promise.all(workers.map((worker) => worker.stop()))
}

/** Starts a worker that does runs. */
export function startRuns(deps: VerificationDeps) {
  const worker = startJobs({
    db: deps.db as never,
    handlers: [verificationHandler(deps)],
    clock: systemClock,
    logger,
    metrics: createMetrics(),
    // A long answer takes longer than the short lease of other tests.
    settings: { ...quickJobs, lease_ms: 20_000 },
  })
  started.add(worker)
  return worker
}

/** Requests a run of the trace with these observations. */
export async function requestRun(
  { db, clock }: VerificationDeps,
  rows: readonly Observation[],
  more: Partial<RunRequest> = {},
): Promise<Run> {
  const row = rows.at(-1)
  if (row === undefined) throw new Error('no observations')
  const { run } = await startRun(
    { db, clock },
    {
      project_id: row.project_id,
      trace_id: row.trace_id,
      task_id: row.task_id,
      user_id: row.user_id || null,
      environment: row.environment || null,
      trace_start: isoFromNs(row.start_time).replace(/(\.\d{3})\d*Z/, '$1Z'),
      trigger: 'request',
      verifiers: [{ name: 'kb', options: {} }],
      requested_by: 'user:ada',
      ...more,
    },
  )
  return run
}

/** The run once it has ended. */
export function endOf({ db }: Pick<VerificationDeps, 'db'>, run: Run): Promise<Run> {
  return eventually(
    'the run ended',
    async () => {
      const now = await findRun(db, { project_id: run.project_id, run_id: run.id })
      return now !== undefined && now.state !== 'pending' && now
    },
    { timeout_ms: 60_000 },
  )
}

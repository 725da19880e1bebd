import { type Clock, sleep } from '../../kernel/time.ts'
import type { AuditTrail } from '../../platform/audit/index.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import { runInInstallation } from '../../platform/tenancy/index.ts'
import { defaultJobSettings, type JobDb, type JobHandler, type JobSettings } from './contract.ts'
import { claimNextJob, type JobRunOptions, jobMeters } from './run-job.ts'

export type JobsOptions = {
  db: JobDb
  handlers: readonly JobHandler[]
  /** Periodic work, such as enqueueing the jobs of a day; each chore runs on its own. */
  chores?: readonly Chore[]
  clock: Clock
  logger: Logger
  metrics: Metrics
  settings?: Partial<JobSettings>
  /** Where the ends of jobs are recorded. Without it, nowhere. */
  audit?: AuditTrail
}

/** Periodic work of every worker. It must be safe when several workers do it at once. */
export type Chore = {
  name: string
  every_ms: number
  /**
   * Why its statements need rows of several projects. What it does for one project or organization
   * runs in that scope.
   */
  reason: string
  run: (signal: AbortSignal) => Promise<void>
}

/** The running jobs of a process. */
export type Jobs = {
  /**
   * Stops claiming jobs, aborts those that run and gives them back, so that another worker
   * continues at once. Resolves after `stop_ms_max` at the latest.
   */
  stop(): Promise<void>
}

/** Starts claiming and running jobs, within the limits of the settings. */
export function startJobs(options: JobsOptions): Jobs {
  const { db, clock, logger, metrics, audit, chores = [] } = options
  const settings = { ...defaultJobSettings, ...options.settings }
  const stopping = new AbortController()
  const meters = jobMeters(metrics)
  const working = [
    ...poolsOf(options.handlers, settings).map(({ handlers, jobs_max, poll_ms }) => {
      const byKind = new Map(handlers.map((handler) => [handler.kind, handler]))
      const limits = { ...settings, poll_ms }
      const run = { db, handlers: byKind, clock, logger, settings: limits, meters, audit, turn: {} }
      return runJobs(run, jobs_max, stopping.signal)
    }),
    ...chores.map((chore) => repeat(chore, logger, stopping.signal)),
  ]
  return {
    stop: async () => {
      stopping.abort(new Error('the worker stops'))
      const ended = new AbortController()
      await Promise.race([Promise.all(working), sleep(settings.stop_ms_max, ended.signal)])
      ended.abort()
    },
  }
}

type Pool = { handlers: readonly JobHandler[]; jobs_max: number; poll_ms: number }

/** Returns one pool for each kind with a `jobs_max` of its own, and one for all other kinds. */
function poolsOf(handlers: readonly JobHandler[], settings: JobSettings): Pool[] {
  const { concurrency_max, poll_ms } = settings
  const [limited, shared] = [true, false].map((is_limited) =>
    handlers.filter(({ jobs_max }) => (jobs_max !== undefined) === is_limited),
  )
  const own = (limited ?? []).map((handler) => ({
    handlers: [handler],
    jobs_max: handler.jobs_max ?? concurrency_max,
    poll_ms: Math.min(handler.poll_ms ?? poll_ms, poll_ms),
  }))
  return [{ handlers: shared ?? [], jobs_max: concurrency_max, poll_ms }, ...own].filter(
    (pool) => pool.handlers.length > 0,
  )
}

/** Polls for jobs and runs up to `jobs_max` of them side by side. */
async function runJobs(options: JobRunOptions, jobs_max: number, stopping: AbortSignal) {
  const { logger, settings } = options
  const running = new Set<Promise<void>>()
  while (!stopping.aborted) {
    if (running.size >= jobs_max) {
      await Promise.race(running)
      continue
    }
    const work = await claimNextJob(options, stopping).catch((error: unknown) => {
      logger.warn({ err: error }, 'polling for jobs failed')
      return undefined
    })
    if (work === undefined) {
      await sleep(settings.poll_ms, stopping)
      continue
    }
    const attempt = work().catch((error: unknown) => {
      logger.warn({ err: error }, 'a job ended unexpectedly')
    })
    const ended: Promise<void> = attempt.finally(() => running.delete(ended))
    running.add(ended)
  }
  await Promise.all(running)
}

/** Runs a chore once, in the scope of the installation. */
export function runChore({ reason, run }: Chore, stopping: AbortSignal): Promise<void> {
  return runInInstallation(reason, () => run(stopping))
}

async function repeat(chore: Chore, logger: Logger, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await runChore(chore, stopping).catch((error: unknown) => {
      if (!stopping.aborted) logger.warn({ err: error, chore: chore.name }, 'a chore failed')
    })
    await sleep(chore.every_ms, stopping)
  }
}

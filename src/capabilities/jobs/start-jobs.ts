import { type Clock, sleep } from '../../kernel/time.ts'
import type { AuditTrail } from '../../platform/audit/index.ts'
import {
  pollingWakes,
  type Waker,
  type Wakes,
  type WakeTopic,
} from '../../platform/relational/index.ts'
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
  /** Announcements of jobs and of the work of chores. Without them, they poll. */
  wakes?: Wakes
  /** Where the ends of jobs are recorded. Without it, nowhere. */
  audit?: AuditTrail
}

/** Periodic work of every worker. It must be safe when several workers do it at once. */
export type Chore = {
  name: string
  every_ms: number
  /** Announces its work: it then runs when there is some, and else once in a slow poll. */
  wake?: WakeTopic
  /**
   * Why its statements need rows of several projects. What it does for one project or organization
   * runs in that scope.
   */
  reason: string
  run: (signal: AbortSignal) => Promise<void> | Promise<ChoreRun>
}

/** `again` if more work is expected that nothing announces: it runs again after `every_ms`. */
export type ChoreRun = 'again' | undefined

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
  const wakes = options.wakes ?? pollingWakes()
  const stopping = new AbortController()
  const meters = jobMeters(metrics)
  const working = [
    ...poolsOf(options.handlers, settings).map(({ handlers, jobs_max, poll_ms }) => {
      const byKind = new Map(handlers.map((handler) => [handler.kind, handler]))
      const limits = { ...settings, poll_ms }
      const run = { db, handlers: byKind, clock, logger, settings: limits, meters, audit, turn: {} }
      return runJobs(run, { jobs_max, waker: wakes.waker('jobs'), stopping: stopping.signal })
    }),
    ...chores.map((chore) => repeat(chore, { logger, wakes, stopping: stopping.signal })),
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

type PoolRun = { jobs_max: number; waker: Waker; stopping: AbortSignal }

/** Polls for jobs and runs up to `jobs_max` of them side by side. */
async function runJobs(options: JobRunOptions, { jobs_max, waker, stopping }: PoolRun) {
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
      await waker.wait(settings.poll_ms, stopping)
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
export function runChore({ reason, run }: Chore, stopping: AbortSignal): Promise<ChoreRun> {
  return runInInstallation(reason, async () => {
    const ran = await run(stopping)
    return ran === 'again' ? ran : undefined
  })
}

type ChoreOptions = { logger: Logger; wakes: Wakes; stopping: AbortSignal }

async function repeat(chore: Chore, { logger, wakes, stopping }: ChoreOptions): Promise<void> {
  const { wake, every_ms } = chore
  const waker = wake === undefined ? undefined : wakes.waker(wake)
  while (!stopping.aborted) {
    const ran = await runChore(chore, stopping).catch((error: unknown) => {
      if (!stopping.aborted) logger.warn({ err: error, chore: chore.name }, 'a chore failed')
      return 'again' as const
    })
    if (waker === undefined || ran === 'again') await sleep(every_ms, stopping)
    else await waker.wait(every_ms, stopping)
  }
}

import { type Clock, sleep } from '../../kernel/time.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import type { JobDb, JobHandler } from './contract.ts'
import { jobMeters } from './job-meters.ts'
import { claimNextJob, type JobRunOptions } from './run-job.ts'
import { defaultJobSettings, type JobSettings } from './settings.ts'

export type JobsOptions = {
  db: JobDb
  handlers: readonly JobHandler[]
  /** What has to happen every so often, such as enqueueing the jobs of a day; each on its own. */
  chores?: readonly Chore[]
  clock: Clock
  logger: Logger
  metrics: Metrics
  settings?: Partial<JobSettings>
}

/** Small work of every worker, which therefore must do no harm when several do it at once. */
export type Chore = { name: string; every_ms: number; run: (signal: AbortSignal) => Promise<void> }

/** The jobs of a process. */
export type Jobs = {
  /**
   * Claims no more jobs, aborts those that run and gives them back, so that another worker goes on
   * at once. Resolves after `stop_ms_max` at the latest.
   */
  stop(): Promise<void>
}

/** Works on jobs, as many at a time as the settings say, until it is stopped. */
export function startJobs(options: JobsOptions): Jobs {
  const { db, clock, logger, metrics, chores = [] } = options
  const settings = { ...defaultJobSettings, ...options.settings }
  const stopping = new AbortController()
  const meters = jobMeters(metrics)
  const working = [
    ...crews(options.handlers, settings).map(({ handlers, jobs_max }) => {
      const byKind = new Map(handlers.map((handler) => [handler.kind, handler]))
      const run = { db, handlers: byKind, clock, logger, settings, meters }
      return workOn(run, jobs_max, stopping.signal)
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

type Crew = { handlers: readonly JobHandler[]; jobs_max: number }

/** Kinds that say how many of their jobs may run have a crew of their own; the others share one. */
function crews(handlers: readonly JobHandler[], { concurrency_max }: JobSettings): Crew[] {
  const [apart, shared] = [true, false].map((is_apart) =>
    handlers.filter(({ jobs_max }) => (jobs_max !== undefined) === is_apart),
  )
  const own = (apart ?? []).map((handler) => ({
    handlers: [handler],
    jobs_max: handler.jobs_max ?? concurrency_max,
  }))
  return [{ handlers: shared ?? [], jobs_max: concurrency_max }, ...own].filter(
    (crew) => crew.handlers.length > 0,
  )
}

/** One looks for jobs; each that it finds is worked on beside those that run already. */
async function workOn(options: JobRunOptions, jobs_max: number, stopping: AbortSignal) {
  const { logger, settings } = options
  const running = new Set<Promise<void>>()
  while (!stopping.aborted) {
    if (running.size >= jobs_max) {
      await Promise.race(running)
      continue
    }
    const work = await claimNextJob(options, stopping).catch((error: unknown) => {
      logger.warn({ err: error }, 'jobs could not be looked for')
      return undefined
    })
    if (work === undefined) {
      await sleep(settings.poll_ms, stopping)
      continue
    }
    const attempt = work().catch((error: unknown) => {
      logger.warn({ err: error }, 'a job broke off')
    })
    const gone: Promise<void> = attempt.finally(() => running.delete(gone))
    running.add(gone)
  }
  await Promise.all(running)
}

async function repeat(chore: Chore, logger: Logger, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await chore.run(stopping).catch((error: unknown) => {
      if (!stopping.aborted) logger.warn({ err: error, chore: chore.name }, 'a chore failed')
    })
    await sleep(chore.every_ms, stopping)
  }
}

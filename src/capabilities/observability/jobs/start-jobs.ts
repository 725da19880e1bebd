import { type Clock, sleep } from '../../../kernel/time.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import type { JobDb, JobHandler } from './contract.ts'
import { jobMeters } from './job-meters.ts'
import { type JobRunOptions, runNextJob } from './run-job.ts'
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
  const handlers = new Map(options.handlers.map((handler) => [handler.kind, handler]))
  const run: JobRunOptions = { db, handlers, clock, logger, settings, meters: jobMeters(metrics) }
  const stopping = new AbortController()
  const lanes = handlers.size === 0 ? 0 : settings.concurrency_max
  const working = [
    ...Array.from({ length: lanes }, () => workOn(run, stopping.signal)),
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

async function workOn(options: JobRunOptions, stopping: AbortSignal): Promise<void> {
  const { logger, settings } = options
  while (!stopping.aborted) {
    const found = await runNextJob(options, stopping).catch((error: unknown) => {
      logger.warn({ err: error }, 'jobs could not be looked for')
      return false
    })
    if (!found) await sleep(settings.poll_ms, stopping)
  }
}

async function repeat(chore: Chore, logger: Logger, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await chore.run(stopping).catch((error: unknown) => {
      if (!stopping.aborted) logger.warn({ err: error, chore: chore.name }, 'a chore failed')
    })
    await sleep(chore.every_ms, stopping)
  }
}

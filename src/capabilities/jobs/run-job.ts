import { backOff } from '../../kernel/back-off.ts'
import { newId } from '../../kernel/ids.ts'
import { Problem } from '../../kernel/problem.ts'
import { type Clock, sleep } from '../../kernel/time.ts'
import { AuditedCall, type AuditTrail, runInCall } from '../../platform/audit/index.ts'
import { isRelationalUnavailable } from '../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import { runInInstallation, runInProject } from '../../platform/tenancy/index.ts'
import { claimJob } from './claim-job.ts'
import {
  type Job,
  type JobDb,
  type JobHandler,
  JobRefused,
  type JobSettings,
  LeaseLost,
} from './contract.ts'
import { endJob, extendLease, giveBack, type Lease, noteProgress } from './store.ts'

/** Dependencies of an attempt at a job. */
export type JobRunOptions = {
  db: JobDb
  handlers: ReadonlyMap<string, JobHandler>
  clock: Clock
  logger: Logger
  meters: JobMeters
  settings: JobSettings
  /** The project whose job was claimed last. */
  turn: { project_id?: string }
  /** Where the ends of jobs are recorded. */
  audit?: AuditTrail | undefined
}

/**
 * Claims one job and returns a function that runs it, until it ends or the lease is lost; undefined
 * when no job is due. All statements of the job run in the scope of its project. `stopping` gives
 * the job back to the queue. Rejects when the database is unavailable.
 */
export async function claimNextJob(
  options: JobRunOptions,
  stopping: AbortSignal,
): Promise<(() => Promise<void>) | undefined> {
  const { db, handlers, settings, clock, turn } = options
  const lease_owner = newId()
  const asked_at_ms = clock.now_ms()
  const kinds = [...handlers.keys()]
  const job = await runInInstallation('projects take turns with their jobs', () =>
    claimJob(db, { kinds, lease_owner, lease_ms: settings.lease_ms, after: turn.project_id }),
  )
  if (job === undefined) return undefined
  turn.project_id = job.project_id
  const attempt = new Attempt(options, job, { lease_owner, confirmed_at_ms: asked_at_ms })
  return async () =>
    runInProject(job.project_id, () => measure(options, job, () => attempt.run(stopping)))
}

async function measure(
  { meters, clock }: JobRunOptions,
  { kind }: Job,
  work: () => Promise<Ended>,
): Promise<void> {
  const started_ms = clock.now_ms()
  meters.running.inc({ kind })
  try {
    const result = await work()
    meters.ended.inc({ kind, result })
  } finally {
    meters.running.dec({ kind })
    meters.duration.observe({ kind }, (clock.now_ms() - started_ms) / 1_000)
  }
}

type Ended = 'succeeded' | 'failed' | 'retried' | 'given_back' | 'lost'

class Attempt {
  readonly #options: JobRunOptions
  readonly #job: Job
  readonly #lease: Lease
  readonly #lost = new AbortController()
  /** Earliest time at which the database may last have confirmed the lease. */
  #confirmed_at_ms: number

  constructor(
    options: JobRunOptions,
    job: Job,
    held: { lease_owner: string; confirmed_at_ms: number },
  ) {
    this.#options = options
    this.#job = job
    this.#lease = { id: job.id, lease_owner: held.lease_owner }
    this.#confirmed_at_ms = held.confirmed_at_ms
  }

  async run(stopping: AbortSignal): Promise<Ended> {
    const { logger, settings } = this.#options
    const { id: job_id, kind, project_id, attempt } = this.#job
    const logFields = { job_id, kind, project_id, attempt }
    const over = new AbortController()
    const renewing = this.#renewLease(over.signal)
    try {
      const ended =
        attempt > settings.attempts_max
          ? await this.#end({
              error: `The job was started ${attempt - 1} times and never ended.`,
            })
          : await this.#attempt(stopping, logFields)
      const level = ended === 'succeeded' ? 'debug' : 'info'
      logger[level]({ ...logFields, result: ended }, 'an attempt at a job ended')
      return ended
    } catch (error) {
      // The lease expires, and the worker that takes the job over runs it again.
      logger.warn({ ...logFields, err: error }, 'storing the end of a job failed')
      return 'lost'
    } finally {
      over.abort()
      await renewing
    }
  }

  async #attempt(stopping: AbortSignal, logFields: object): Promise<Ended> {
    const { handlers, logger } = this.#options
    const signal = AbortSignal.any([stopping, this.#lost.signal])
    const handler = handlers.get(this.#job.kind)
    if (handler === undefined) throw new TypeError(`no handler for jobs of ${this.#job.kind}`)
    logger.debug(logFields, 'a job begins')
    try {
      const progress = (value: Record<string, unknown>) => this.#progress(value)
      return await this.#end({ result: await handler.run(this.#job, { progress, signal }) })
    } catch (error) {
      if (this.#lost.signal.aborted || error instanceof LeaseLost) return 'lost'
      if (stopping.aborted) return this.#giveBack('given_back', { delay_ms: 0, error: null })
      logger.warn({ ...logFields, err: error }, 'an attempt at a job failed')
      return this.#fail(error)
    }
  }

  async #progress(value: Record<string, unknown>): Promise<void> {
    this.#lost.signal.throwIfAborted()
    if (!(await noteProgress(this.#options.db, this.#lease, value))) throw this.#loseLease()
  }

  async #fail(error: unknown): Promise<Ended> {
    const { settings } = this.#options
    const { attempt } = this.#job
    const reason = reasonOf(error)
    if (isFinal(error)) return this.#end({ error: reason })
    if (isOutage(error)) {
      if (this.#age_ms() > settings.outage_ms_max) return this.#end({ error: reason })
      return this.#giveBack('given_back', { delay_ms: settings.outage_ms, error: reason })
    }
    if (attempt >= settings.attempts_max) return this.#end({ error: reason })
    const { retry_ms_min: base_ms, retry_ms_max: max_ms } = settings
    const delay_ms = backOff({ base_ms, max_ms }, attempt)
    return this.#giveBack('retried', { delay_ms, error: reason })
  }

  #age_ms(): number {
    const { created_at, started_at } = this.#job
    return this.#options.clock.now_ms() - Date.parse(started_at ?? created_at)
  }

  async #end(end: Parameters<typeof endJob>[2]): Promise<Ended> {
    const { db, clock, audit: trail } = this.#options
    const ending = { job: this.#job, isFailed: 'error' in end }
    const isStored = await this.#persist(() =>
      writeAuditedEnd(trail && { trail, clock }, ending, () => endJob(db, this.#lease, end)),
    )
    if (!isStored) return 'lost'
    return 'result' in end ? 'succeeded' : 'failed'
  }

  async #giveBack(
    as: 'retried' | 'given_back',
    retry: { delay_ms: number; error: string | null },
  ): Promise<Ended> {
    const change = { ...retry, counted: as === 'retried' }
    const isStored = await this.#persist(() => giveBack(this.#options.db, this.#lease, change))
    return isStored ? as : 'lost'
  }

  /** Retries a write during an outage, so that a short one does not discard hours of work. */
  async #persist(write: () => Promise<boolean>): Promise<boolean> {
    for (;;) {
      try {
        return await write()
      } catch (error) {
        if (!isRelationalUnavailable(error) || this.#lost.signal.aborted) throw error
        await sleep(persistRetryMs, this.#lost.signal)
      }
    }
  }

  /** Extends the lease at intervals until the attempt is over or the lease is lost. */
  async #renewLease(over: AbortSignal): Promise<void> {
    const { clock, settings, logger } = this.#options
    while (!over.aborted && !this.#lost.signal.aborted) {
      await sleep(settings.lease_ms / renewalsPerLease, over)
      if (over.aborted) return
      const asked_at_ms = clock.now_ms()
      try {
        if (await extendLease(this.#options.db, this.#lease, settings.lease_ms)) {
          this.#confirmed_at_ms = asked_at_ms
        } else if (!over.aborted) {
          this.#loseLease()
        }
      } catch (error) {
        logger.warn({ job_id: this.#job.id, err: error }, 'extending the lease of a job failed')
      }
      if (clock.now_ms() - this.#confirmed_at_ms >= settings.lease_ms) this.#loseLease()
    }
  }

  #loseLease(): LeaseLost {
    const lost = new LeaseLost(`job ${this.#job.id}: another worker may have taken it over`)
    this.#lost.abort(lost)
    return lost
  }
}

/** Where the ends of jobs are recorded; undefined: nowhere. */
type JobAudit = { trail: AuditTrail; clock: Clock } | undefined

/**
 * Writes the end of a job, and its audit record in the same transaction. A write that finds no row,
 * because the lease is lost, leaves no record. A job of no known project has its record in the
 * chain of the installation, which the scope of a project may not write.
 */
async function writeAuditedEnd(
  audit: JobAudit,
  { job, isFailed }: { job: Job; isFailed: boolean },
  write: () => Promise<boolean>,
): Promise<boolean> {
  if (audit === undefined) return write()
  const call = new AuditedCall(audit.trail, {
    recorded_at: new Date(audit.clock.now_ms()).toISOString(),
    action: `job.${job.kind}`,
    resource_type: 'jobs',
    resource_id: job.id,
    request_id: job.id,
    origin: null,
    user_agent: null,
    is_collection: false,
  })
  call.noteActor('job', job.id)
  call.noteProject(job.project_id)
  if (isFailed) call.noteFailure()
  const end = () => runInCall(call, () => call.change(write))
  const organization_id = await audit.trail.findOrganization(job.project_id)
  return organization_id === undefined
    ? runInInstallation('the chain of the installation', end)
    : end()
}

const renewalsPerLease = 3
const persistRetryMs = 500

function isFinal(error: unknown): boolean {
  return error instanceof JobRefused || (error instanceof Problem && error.status < 500)
}

function isOutage(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'store_unavailable'
  return isRelationalUnavailable(error)
}

/**
 * Returns the error for the job's record. Project members read it, so internals stay in the log.
 */
function reasonOf(error: unknown): string {
  if (error instanceof Problem || error instanceof JobRefused) return error.message
  if (isOutage(error)) return 'A store is unavailable.'
  return 'Internal error; the cause is in the log of the worker.'
}

/** Metrics of job attempts. */
type JobMeters = ReturnType<typeof jobMeters>

/** Registers the metrics; once per process. */
export function jobMeters(metrics: Metrics) {
  return {
    ended: metrics.counter({
      name: 'looptrace_job_attempts_total',
      help: 'Attempts at jobs, by kind and result: succeeded, failed, retried, given_back, lost.',
      labels: ['kind', 'result'],
    }),
    running: metrics.gauge({
      name: 'looptrace_jobs_running',
      help: 'Jobs that this process is running, by kind.',
      labels: ['kind'],
    }),
    duration: metrics.histogram({
      name: 'looptrace_job_attempt_duration_seconds',
      help: 'Duration of attempts at jobs, by kind.',
      labels: ['kind'],
      buckets: [0.1, 1, 5, 30, 60, 300, 1_800, 7_200, 36_000],
    }),
  }
}

import { backOff } from '../../kernel/back-off.ts'
import { newId } from '../../kernel/ids.ts'
import { Problem } from '../../kernel/problem.ts'
import { type Clock, sleep } from '../../kernel/time.ts'
import { isRelationalUnavailable } from '../../platform/relational/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { type Job, type JobDb, type JobHandler, JobRefused, LeaseLost } from './contract.ts'
import type { JobMeters } from './job-meters.ts'
import type { JobSettings } from './settings.ts'
import { claimJob, endJob, extendLease, giveBack, type Lease, noteProgress } from './store.ts'

/** What an attempt at a job needs. */
export type JobRunOptions = {
  db: JobDb
  handlers: ReadonlyMap<string, JobHandler>
  clock: Clock
  logger: Logger
  meters: JobMeters
  settings: JobSettings
}

/**
 * Claims one job and answers the work on it, which resolves when it ends or the lease is lost;
 * undefined when none is due. `stopping` has it given back. Rejects when the database can't be asked
 * for a job.
 */
export async function claimNextJob(
  options: JobRunOptions,
  stopping: AbortSignal,
): Promise<(() => Promise<void>) | undefined> {
  const { db, handlers, settings, clock } = options
  const lease_owner = newId()
  const asked_at_ms = clock.now_ms()
  const kinds = [...handlers.keys()]
  const job = await claimJob(db, { kinds, lease_owner, lease_ms: settings.lease_ms })
  if (job === undefined) return undefined
  const attempt = new Attempt(options, job, { lease_owner, heard_at_ms: asked_at_ms })
  return () => metered(options, job, () => attempt.run(stopping))
}

async function metered(
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
  /** When the database last said, at the earliest, that the job is ours. */
  #heard_at_ms: number

  constructor(
    options: JobRunOptions,
    job: Job,
    held: { lease_owner: string; heard_at_ms: number },
  ) {
    this.#options = options
    this.#job = job
    this.#lease = { id: job.id, lease_owner: held.lease_owner }
    this.#heard_at_ms = held.heard_at_ms
  }

  async run(stopping: AbortSignal): Promise<Ended> {
    const { logger, settings } = this.#options
    const { id: job_id, kind, project_id, attempt } = this.#job
    const about = { job_id, kind, project_id, attempt }
    const over = new AbortController()
    const beating = this.#beat(over.signal)
    try {
      const ended =
        attempt > settings.attempts_max
          ? await this.#end({
              error: `It was begun ${attempt - 1} times and never came to an end.`,
            })
          : await this.#attempt(stopping, about)
      const level = ended === 'succeeded' ? 'debug' : 'info'
      logger[level]({ ...about, result: ended }, 'an attempt at a job ended')
      return ended
    } catch (error) {
      // The lease runs out, and whoever takes the job over does it again.
      logger.warn({ ...about, err: error }, 'the end of a job could not be noted')
      return 'lost'
    } finally {
      over.abort()
      await beating
    }
  }

  async #attempt(stopping: AbortSignal, about: object): Promise<Ended> {
    const { handlers, logger } = this.#options
    const signal = AbortSignal.any([stopping, this.#lost.signal])
    const handler = handlers.get(this.#job.kind)
    if (handler === undefined) throw new TypeError(`no handler for jobs of ${this.#job.kind}`)
    logger.debug(about, 'a job begins')
    try {
      const progress = (value: Record<string, unknown>) => this.#progress(value)
      return await this.#end({ result: await handler.run(this.#job, { progress, signal }) })
    } catch (error) {
      if (this.#lost.signal.aborted || error instanceof LeaseLost) return 'lost'
      if (stopping.aborted) return this.#giveBack('given_back', { delay_ms: 0, error: null })
      logger.warn({ ...about, err: error }, 'an attempt at a job failed')
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
    const noted = await this.#insist(() => endJob(this.#options.db, this.#lease, end))
    if (!noted) return 'lost'
    return 'result' in end ? 'succeeded' : 'failed'
  }

  async #giveBack(
    as: 'retried' | 'given_back',
    about: { delay_ms: number; error: string | null },
  ): Promise<Ended> {
    const counted = as === 'retried'
    const back = { ...about, counted }
    const noted = await this.#insist(() => giveBack(this.#options.db, this.#lease, back))
    return noted ? as : 'lost'
  }

  /** A database that is away for a moment must not cost the work of hours. */
  async #insist(write: () => Promise<boolean>): Promise<boolean> {
    for (;;) {
      try {
        return await write()
      } catch (error) {
        if (!isRelationalUnavailable(error) || this.#lost.signal.aborted) throw error
        await sleep(insist_ms, this.#lost.signal)
      }
    }
  }

  /** Says again and again that the job is worked on, until it is over or somebody else's. */
  async #beat(over: AbortSignal): Promise<void> {
    const { clock, settings, logger } = this.#options
    while (!over.aborted && !this.#lost.signal.aborted) {
      await sleep(settings.lease_ms / beatsOfLease, over)
      if (over.aborted) return
      const asked_at_ms = clock.now_ms()
      try {
        if (await extendLease(this.#options.db, this.#lease, settings.lease_ms)) {
          this.#heard_at_ms = asked_at_ms
        } else if (!over.aborted) {
          this.#loseLease()
        }
      } catch (error) {
        logger.warn({ job_id: this.#job.id, err: error }, 'a lease could not be extended')
      }
      if (clock.now_ms() - this.#heard_at_ms >= settings.lease_ms) this.#loseLease()
    }
  }

  #loseLease(): LeaseLost {
    const lost = new LeaseLost(`job ${this.#job.id}: another worker may have it by now`)
    this.#lost.abort(lost)
    return lost
  }
}

const beatsOfLease = 3
const insist_ms = 500

function isFinal(error: unknown): boolean {
  return error instanceof JobRefused || (error instanceof Problem && error.status < 500)
}

function isOutage(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'store_unavailable'
  return isRelationalUnavailable(error)
}

/** Members of the project read it, so what is not meant for them stays in the log. */
function reasonOf(error: unknown): string {
  if (error instanceof Problem || error instanceof JobRefused) return error.message
  if (isOutage(error)) return 'A store is out of reach.'
  return 'Something went wrong on our side; the log of the worker has the cause.'
}

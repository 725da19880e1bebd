import type { Clock } from '../../kernel/time.ts'
import type { JobTables, Kysely, Selectable } from '../../platform/relational/index.ts'

/** Where jobs are kept. */
export type JobDb = Kysely<JobTables>

/** A job as it is stored; instants are ISO 8601. `id` is a UUIDv7: later jobs sort behind. */
export type Job = Selectable<JobTables['job_runs']>

/** JSON that a job takes, notes or comes to. */
export type JobValue = Record<string, unknown>

/** What is asked of a worker. */
export type JobRequest = {
  project_id: string
  kind: string
  params: JobValue
  /** Who asked: `user:<id>`, `key:<id>`, `service_account:<id>`, `schedule` or `job:<id>`. */
  requested_by: string
  clock: Clock
  /** While a job of the project with this key is queued or runs, another one is refused. */
  exclusive_key?: string
  /** Of a project's jobs with this key only the first is ever made. */
  once_key?: string
}

/** What a handler works with. */
export type JobContext = {
  /**
   * Notes how far the job is: whoever takes it over finds it in `job.progress`. Rejects with
   * LeaseLost when another worker has it by now.
   */
  progress: (value: JobValue) => Promise<void>
  /** Aborts when the lease is lost or the worker stops: end soon, and write nothing more. */
  signal: AbortSignal
}

/**
 * Does the jobs of one kind. A job may be begun again after any of its steps (the process was
 * killed, the store was away): what was done must do no harm when it is repeated. What `run` throws
 * has the job tried again later; a JobRefused, or the last of the attempts, makes it `failed`.
 */
export type JobHandler = {
  kind: string
  /** Jobs of the kind that a process works on at a time, beside those of other kinds. */
  jobs_max?: number
  /** Resolves with the job's `result`. */
  run: (job: Job, context: JobContext) => Promise<JobValue>
}

/** The job can't succeed, however often it is tried; its message stands in the job's record. */
export class JobRefused extends Error {
  override readonly name = 'JobRefused'
}

/** Another worker has the job: this one came too late to say that it still works on it. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

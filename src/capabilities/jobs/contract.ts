import type { Clock } from '../../kernel/time.ts'
import type { JobTables, Kysely, Selectable } from '../../platform/relational/index.ts'

/** The database that stores jobs. */
export type JobDb = Kysely<JobTables>

/** A stored job; instants are ISO 8601. `id` is a UUIDv7, so jobs sort by creation. */
export type Job = Selectable<JobTables['job_runs']>

/** JSON of a job's parameters, progress or result. */
export type JobValue = Record<string, unknown>

/** A request for a new job. */
export type JobRequest = {
  project_id: string
  kind: string
  params: JobValue
  /** Requester: `user:<id>`, `key:<id>`, `service_account:<id>`, `schedule` or `job:<id>`. */
  requested_by: string
  clock: Clock
  /** A second job of the project with this key is refused while the first is queued or running. */
  exclusive_key?: string
  /** Only the first job of a project with this key is ever created. */
  once_key?: string
}

/** Functions that a handler works with. */
export type JobContext = {
  /**
   * Stores the job's progress in `job.progress`, for a worker that takes the job over. Rejects with
   * LeaseLost when another worker has taken it over already.
   */
  progress: (value: JobValue) => Promise<void>
  /** Aborts when the lease is lost or the worker stops: return soon, without further writes. */
  signal: AbortSignal
}

/**
 * Runs the jobs of one kind. A job may restart after any of its steps (the process was killed, the
 * store was unavailable), so every step must be safe to repeat. When `run` throws, the job is
 * retried later; it is `failed` after a JobRefused or the last attempt.
 */
export type JobHandler = {
  kind: string
  /** Jobs of this kind that a process runs at a time, in addition to those of other kinds. */
  jobs_max?: number
  /** How often a process with a free slot polls for jobs of this kind. Needs `jobs_max`. */
  poll_ms?: number
  /** Resolves with the job's `result`. */
  run: (job: Job, context: JobContext) => Promise<JobValue>
}

/** The job can't succeed, so it is not retried; the message is stored in the job's record. */
export class JobRefused extends Error {
  override readonly name = 'JobRefused'
}

/** Another worker has taken the job over, because this one did not extend its lease in time. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Limits of a process that runs jobs. */
export type JobSettings = {
  /** How often an idle process polls for jobs. */
  poll_ms: number
  /** Time after which another process takes over a job whose lease was not extended. */
  lease_ms: number
  /** Attempts after which a job is `failed`. Outages of a store do not count as attempts. */
  attempts_max: number
  /** Jobs that one process runs at a time. */
  concurrency_max: number
  /** Shortest and longest wait after a failed attempt; it doubles with each attempt. */
  retry_ms_min: number
  retry_ms_max: number
  /** Wait before a retry after an outage of a store. */
  outage_ms: number
  /** Age at which a job that fails because of an outage is `failed`. */
  outage_ms_max: number
  /** How long a stopping process waits for its jobs to return. */
  stop_ms_max: number
}

export const defaultJobSettings: JobSettings = {
  poll_ms: 2_000,
  lease_ms: 30_000,
  attempts_max: 5,
  concurrency_max: 2,
  retry_ms_min: 5_000,
  retry_ms_max: 300_000,
  outage_ms: 15_000,
  outage_ms_max: 24 * 3_600_000,
  stop_ms_max: 10_000,
}

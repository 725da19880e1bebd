/** Bounds of a process that works on jobs. */
export type JobSettings = {
  /** How often a process with nothing to do looks for a job. */
  poll_ms: number
  /** A job whose holder has not been heard of for so long is taken over by another process. */
  lease_ms: number
  /** A job that failed so often is `failed`. An outage of a store is no attempt. */
  attempts_max: number
  /** Jobs that one process works on at a time. */
  concurrency_max: number
  /** The wait after a failed attempt: from the first, doubling, to the second. */
  retry_ms_min: number
  retry_ms_max: number
  /** The wait before a job is begun again that met a store out of reach. */
  outage_ms: number
  /** A job that has met nothing but outages for so long is `failed`. */
  outage_ms_max: number
  /** How long a stopping process waits for its jobs to put down what they hold. */
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

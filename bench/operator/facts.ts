/** What an operator costs with so many policies in sync, and how quickly it follows them. */
export type OperatorRow = {
  policies: number
  /** From the start of the process until all of them are Ready, none having been seen before. */
  first_sync_ms: number
  /** Requests to the API server, and to the service, that this took. */
  first_kube_requests: number
  first_service_requests: number
  /** From the start of another process until it looked at all of them: nothing is to be written. */
  again_sync_ms: number
  again_kube_requests: number
  /** While nothing changes. */
  steady: {
    seconds: number
    kube_requests_per_s: number
    service_requests_per_s: number
    /** Thousandths of a processor. */
    cpu_millicores: number
    resident_bytes: number
  }
  /** The most that it held, the first sync included. */
  peak_bytes: number
  /** From an apply until the service has it; ms. */
  apply_p50_ms: number
  apply_p95_ms: number
}

export type OperatorFacts = { rows: OperatorRow[] }

/** The goals of the project for 1,000 policies. */
export const goals = {
  first_sync_ms: 10_000,
  kube_requests_per_s: 1,
  cpu_millicores: 20,
  resident_bytes: 150 * 1024 * 1024,
  apply_p95_ms: 1_000,
} as const

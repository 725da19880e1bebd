/** The cost of an operator with this many policies in sync, and its delay in following changes. */
export type OperatorRow = {
  policies: number
  /** From the start of the process until all policies are Ready, with all of them new. */
  first_sync_ms: number
  /** Requests to the API server, and to the service, in that time. */
  first_kube_requests: number
  first_service_requests: number
  /**
   * From the start of another process until it has reconciled all of them, with nothing to write.
   */
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
  /** Maximum memory, including the first sync. */
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

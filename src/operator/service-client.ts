/** A request of the operator to the product's API, in a project. */
export type ServiceRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `/api/v2/observability/retention-policy`, with its query. */
  path: string
  /** Goes as X-Project-ID. */
  project_id?: string
  body?: unknown
  /** Version that a PUT replaces. */
  if_match?: string
  /** Repeats of the same write answer as the first did. */
  idempotency_key?: string
}

/** An answer of 2xx. */
export type ServiceAnswer = { status: number; body: unknown; etag: string | undefined }

/**
 * The product's API as the operator calls it: over HTTP, with the operator's own key. A request
 * rejects with `ServiceUnavailable` (no answer, 429, 5xx, a bad operator key) or `ServiceRefusal`.
 */
export type ServiceClient = { request(request: ServiceRequest): Promise<ServiceAnswer> }

/** The service can't be asked now: worth another try, nothing is known of the resource. */
export class ServiceUnavailable extends Error {
  override readonly name = 'ServiceUnavailable'
  /** From Retry-After. */
  readonly retry_after_ms: number | undefined

  constructor(message: string, options: { retry_after_ms?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.retry_after_ms = options.retry_after_ms
  }
}

/** The service said no (400, 403, 404, 409, 412), with its problem document. */
export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal'
  readonly status: number
  readonly code: string

  constructor(refusal: { status: number; code: string; detail: string }) {
    super(refusal.detail)
    this.status = refusal.status
    this.code = refusal.code
  }
}

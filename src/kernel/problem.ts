/**
 * The one catalogue of errors. A code's status and title are fixed here, documented in
 * `docs/reference/errors.md` (generated), and translated to the wire once per edge.
 */
export const problemCatalogue = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  invalid_json: { status: 400, title: 'The body is not JSON' },
  invalid_cursor: { status: 400, title: 'The cursor is not one of ours' },
  project_required: { status: 400, title: 'The request names no project' },
  unknown_schema_version: { status: 400, title: 'The schema version is not one that we take' },
  query_too_expensive: { status: 400, title: 'The query would take more than it may' },
  unknown_provider: { status: 400, title: 'The provider is not known' },
  credentials_missing: { status: 401, title: 'The request carries no credentials' },
  credentials_unsupported: { status: 401, title: 'The path does not take these credentials' },
  credentials_invalid: { status: 401, title: 'The credentials are not valid' },
  provider_authorization_missing: {
    status: 401,
    title: 'The request carries no key for the provider',
  },
  permission_denied: { status: 403, title: 'The caller may not do this' },
  route_not_found: { status: 404, title: 'There is no such path' },
  task_not_found: { status: 404, title: 'There is no such task' },
  ingest_request_not_found: { status: 404, title: 'There is no such ingest request' },
  trace_not_found: { status: 404, title: 'There is no such trace' },
  conversation_not_found: { status: 404, title: 'There is no such conversation' },
  observation_not_found: { status: 404, title: 'There is no such observation' },
  organization_not_found: { status: 404, title: 'There is no such organization' },
  project_not_found: { status: 404, title: 'There is no such project' },
  api_key_not_found: { status: 404, title: 'There is no such key' },
  service_account_not_found: { status: 404, title: 'There is no such service account' },
  member_not_found: { status: 404, title: 'There is no such member' },
  job_not_found: { status: 404, title: 'There is no such run' },
  saved_query_not_found: { status: 404, title: 'There is no such saved query' },
  legal_hold_not_found: { status: 404, title: 'There is no such legal hold' },
  erasure_not_found: { status: 404, title: 'There is no such erasure' },
  slice_not_found: { status: 404, title: 'There is no such slice' },
  dead_letter_not_found: { status: 404, title: 'There is no such dead letter' },
  method_not_allowed: { status: 405, title: 'The path does not take this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  not_mapped_from_otlp: { status: 409, title: 'The observation did not come as OTLP' },
  name_taken: { status: 409, title: 'The name is taken' },
  task_state_conflict: { status: 409, title: 'The task has ended another way' },
  idempotency_conflict: { status: 409, title: 'The idempotency key came with another body' },
  held: { status: 409, title: 'A legal hold keeps it' },
  too_many_holds: { status: 409, title: 'The project has as many legal holds as it can' },
  archive_not_configured: { status: 409, title: 'No place for archives is set' },
  archive_not_verified: { status: 409, title: 'The archive is not whole' },
  job_running: { status: 409, title: 'Such a run is under way' },
  limit_reached: { status: 409, title: 'There are as many as there may be' },
  saved_query_broken: { status: 409, title: 'The saved query names what is no longer there' },
  api_key_revoked: { status: 409, title: 'The key is revoked' },
  managed_by_kubernetes: { status: 409, title: 'A resource in Kubernetes declares it' },
  last_owner: { status: 409, title: 'The organization would have no owner' },
  precondition_failed: { status: 412, title: 'It has been changed since it was read' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  provider_unreachable: { status: 502, title: 'The provider can not be reached' },
  provider_cut: { status: 502, title: 'The provider closed the connection' },
  store_unavailable: { status: 503, title: 'A store is out of reach' },
  issuer_unreachable: { status: 503, title: 'The external issuer can not be reached' },
  overloaded: { status: 503, title: 'Too much is in flight' },
  shutting_down: { status: 503, title: 'The server is stopping' },
  provider_timeout: { status: 504, title: 'The provider took too long' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof problemCatalogue

/** One fault in a request; `pointer` is a JSON pointer (RFC 6901) or the name of a parameter. */
export type Fault = { pointer: string; detail: string }

/** An error from the catalogue. `detail` quotes the value and says what was expected. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly status: number
  readonly title: string
  readonly faults: readonly Fault[]
  readonly retry_after_s: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly extensions: Readonly<Record<string, unknown>>

  constructor(code: ProblemCode, about: ProblemDetails = {}) {
    const { status, title } = problemCatalogue[code]
    super(about.detail ?? title, { cause: about.cause })
    this.code = code
    this.status = status
    this.title = title
    this.faults = about.faults ?? []
    this.retry_after_s = about.retry_after_s
    this.headers = about.headers ?? {}
    this.extensions = about.extensions ?? {}
  }

  /** The same error, answered with these headers too. */
  withHeaders(headers: Readonly<Record<string, string>>): Problem {
    return new Problem(this.code, {
      detail: this.message,
      cause: this.cause,
      faults: this.faults,
      ...(this.retry_after_s !== undefined && { retry_after_s: this.retry_after_s }),
      headers: { ...this.headers, ...headers },
      extensions: this.extensions,
    })
  }
}

export type ProblemDetails = {
  detail?: string
  cause?: unknown
  faults?: readonly Fault[]
  /** Whole seconds for the `Retry-After` header. */
  retry_after_s?: number
  /** Further headers of the answer, where it goes over HTTP. */
  headers?: Readonly<Record<string, string>>
  /** Further members of the answer's body (RFC 9457, 3.2), where it is one of the product APIs. */
  extensions?: Readonly<Record<string, unknown>>
}

/** Makes the error to throw: `throw problem('task_not_found', { detail })`. */
export function problem(code: ProblemCode, about: ProblemDetails = {}): Problem {
  return new Problem(code, about)
}

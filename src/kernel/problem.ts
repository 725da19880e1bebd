/**
 * The catalogue of errors. It fixes the status and title of each code. `docs/reference/errors.md`
 * is generated from it, and each edge translates errors to its wire format in one place.
 */
export const problemCatalogue = {
  invalid_request: { status: 400, title: 'The request is invalid' },
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_cursor: { status: 400, title: 'The cursor is not valid for this list' },
  project_required: { status: 400, title: 'The request must name a project' },
  unknown_schema_version: { status: 400, title: 'The schema version is not supported' },
  query_too_expensive: { status: 400, title: 'The query exceeds its limits' },
  unknown_provider: { status: 400, title: 'The provider is unknown' },
  format_unsupported: { status: 400, title: 'The provider does not speak the format of the path' },
  credentials_missing: { status: 401, title: 'Credentials are missing' },
  credentials_unsupported: {
    status: 401,
    title: 'The route does not accept this kind of credentials',
  },
  credentials_invalid: { status: 401, title: 'The credentials are invalid' },
  provider_authorization_missing: {
    status: 401,
    title: 'The key for the provider is missing',
  },
  permission_denied: { status: 403, title: 'The caller lacks permission' },
  password_change_required: { status: 403, title: 'The password must be replaced first' },
  route_not_found: { status: 404, title: 'Path not found' },
  task_not_found: { status: 404, title: 'Task not found' },
  ingest_request_not_found: { status: 404, title: 'Ingest request not found' },
  trace_not_found: { status: 404, title: 'Trace not found' },
  conversation_not_found: { status: 404, title: 'Conversation not found' },
  observation_not_found: { status: 404, title: 'Observation not found' },
  organization_not_found: { status: 404, title: 'Organization not found' },
  project_not_found: { status: 404, title: 'Project not found' },
  api_key_not_found: { status: 404, title: 'Key not found' },
  service_account_not_found: { status: 404, title: 'Service account not found' },
  user_not_found: { status: 404, title: 'User not found' },
  member_not_found: { status: 404, title: 'Member not found' },
  invitation_not_found: { status: 404, title: 'Invitation not found' },
  job_not_found: { status: 404, title: 'Run not found' },
  saved_query_not_found: { status: 404, title: 'Saved query not found' },
  legal_hold_not_found: { status: 404, title: 'Legal hold not found' },
  erasure_not_found: { status: 404, title: 'Erasure not found' },
  slice_not_found: { status: 404, title: 'Slice not found' },
  incident_not_found: { status: 404, title: 'Incident not found' },
  incident_link_not_found: { status: 404, title: 'Link of an incident not found' },
  incident_rule_not_found: { status: 404, title: 'Incident rule not found' },
  suppression_not_found: { status: 404, title: 'Suppression not found' },
  channel_not_found: { status: 404, title: 'Notification channel not found' },
  document_not_found: { status: 404, title: 'Document not found' },
  fact_not_found: { status: 404, title: 'Fact not found' },
  message_not_found: { status: 404, title: 'Message not found' },
  verification_run_not_found: { status: 404, title: 'Verification run not found' },
  release_policy_not_found: { status: 404, title: 'Release policy not found' },
  eval_run_not_found: { status: 404, title: 'Eval run not found' },
  certification_not_found: { status: 404, title: 'Release certification not found' },
  claim_not_found: { status: 404, title: 'Claim not found' },
  feedback_not_found: { status: 404, title: 'Feedback not found' },
  scenario_not_found: { status: 404, title: 'Scenario run not found' },
  issuer_not_configured: { status: 404, title: 'No external issuer is configured' },
  dead_letter_not_found: { status: 404, title: 'Dead letter not found' },
  method_not_allowed: { status: 405, title: 'The path does not support this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  not_mapped_from_otlp: { status: 409, title: 'The observation was not received over OTLP' },
  account_exists: { status: 409, title: 'The e-mail address has an account' },
  document_exists: { status: 409, title: 'Another document has this name' },
  knowledge_base_full: { status: 409, title: 'The knowledge base has reached its limit' },
  name_taken: { status: 409, title: 'The name is already in use' },
  task_state_conflict: { status: 409, title: 'The task has already ended in another state' },
  incident_state_conflict: {
    status: 409,
    title: 'The state of the incident does not allow this move',
  },
  idempotency_conflict: {
    status: 409,
    title: 'The idempotency key conflicts with an earlier call',
  },
  feedback_conflict: { status: 409, title: 'Other feedback has this id' },
  feedback_withdrawn: { status: 409, title: 'The feedback is withdrawn' },
  held: { status: 409, title: 'Blocked by a legal hold' },
  too_many_holds: { status: 409, title: 'The project has reached its limit of legal holds' },
  archive_not_configured: { status: 409, title: 'Archives are not configured' },
  archive_not_verified: { status: 409, title: 'The archive is incomplete' },
  job_running: { status: 409, title: 'Another run of this kind is in progress' },
  limit_reached: { status: 409, title: 'Limit reached' },
  saved_query_broken: { status: 409, title: 'The saved query is no longer valid' },
  key_limit_reached: { status: 409, title: 'The account has its maximum of live keys' },
  service_account_suspended: { status: 409, title: 'The service account is suspended' },
  api_key_revoked: { status: 409, title: 'The key is revoked' },
  managed_by_kubernetes: { status: 409, title: 'A Kubernetes resource manages this object' },
  certification_running: { status: 409, title: 'Another certification of the release is running' },
  certification_plan_conflict: {
    status: 409,
    title: 'The release was declared with another window or baseline',
  },
  eval_run_in_use: { status: 409, title: 'A declared certification names the eval run' },
  certification_without_statement: {
    status: 409,
    title: 'The certification has no statement',
  },
  verification_without_result: { status: 409, title: 'The verification run has no result' },
  trust_formula_changed: { status: 409, title: 'The run was scored with another trust formula' },
  project_archived: { status: 409, title: 'The project is archived' },
  organization_not_empty: { status: 409, title: 'The organization has projects' },
  last_administrator: {
    status: 409,
    title: 'The installation needs at least one administrator',
  },
  last_owner: { status: 409, title: 'The organization needs at least one owner' },
  precondition_failed: { status: 412, title: 'The object has changed since it was read' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  rate_limited: { status: 429, title: 'Too many requests' },
  feedback_queue_full: { status: 429, title: 'Too much feedback waits for its tasks' },
  verification_queue_full: { status: 429, title: 'Too many verifications are pending' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  client_closed_request: {
    status: 499,
    title: 'The client closed the connection before the answer',
  },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  provider_unreachable: { status: 502, title: 'The provider is unreachable' },
  provider_cut: { status: 502, title: 'The provider closed the connection' },
  store_unavailable: { status: 503, title: 'A store is unavailable' },
  mail_unavailable: { status: 503, title: 'The mail could not be sent' },
  issuer_unreachable: { status: 503, title: 'The external issuer is unreachable' },
  overloaded: { status: 503, title: 'Too many requests are in progress' },
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

  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    const { status, title } = problemCatalogue[code]
    super(details.detail ?? title, { cause: details.cause })
    this.code = code
    this.status = status
    this.title = title
    this.faults = details.faults ?? []
    this.retry_after_s = details.retry_after_s
    this.headers = details.headers ?? {}
    this.extensions = details.extensions ?? {}
  }

  /** Returns the same error with additional response headers. */
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
  /** Additional headers of an HTTP response. */
  headers?: Readonly<Record<string, string>>
  /** Additional members of the body in the product APIs (RFC 9457, 3.2). */
  extensions?: Readonly<Record<string, unknown>>
}

/** Creates an error of the catalogue: `throw problem('task_not_found', { detail })`. */
export function problem(code: ProblemCode, details: ProblemDetails = {}): Problem {
  return new Problem(code, details)
}

/** How a call ended. `replayed`: the first reply of an `Idempotency-Key` was returned again. */
export const auditOutcomes = ['succeeded', 'refused', 'failed', 'replayed'] as const
export type AuditOutcome = (typeof auditOutcomes)[number]

/**
 * Who called. `command`: a command on the machine, which needs no credentials of the service.
 * `anonymous`: no credentials, or credentials that are not valid.
 */
export const actorKinds = [
  'user',
  'service_account',
  'key',
  'operator',
  'job',
  'command',
  'anonymous',
] as const
export type ActorKind = (typeof actorKinds)[number]

/**
 * How the call came. `cli` is a command, or what the client says of itself in `User-Agent`.
 */
export const callPaths = ['api', 'cli', 'operator', 'job'] as const
export type CallPath = (typeof callPaths)[number]

/** A call as the audit trail stores it. */
export type AuditEntry = {
  /** Organization in whose chain it is recorded; null: the chain of the installation. */
  organization_id: string | null
  project_id: string | null
  /** ISO 8601 UTC: when the call began. */
  recorded_at: string
  /** The route's id, `job.<kind>`, or `command.<name>`. */
  action: string
  outcome: AuditOutcome
  /** Code of the error; null for a successful call. */
  code: string | null
  actor_kind: ActorKind
  actor_id: string | null
  via: CallPath
  resource_type: string
  resource_id: string | null
  request_id: string
  /** Refused calls of the same actor that were only counted since its last record. */
  suppressed: number
  /** Where the call came from. Personal data: it can be erased. */
  origin: AuditOrigin | null
  /** The requested change, without secrets and contents. It can be erased. */
  change: AuditChange | null
}

/** The address and the client of a call. */
type AuditOrigin = { address: string; user_agent: string | null }

/** Values before a change, if the action knows them, and the requested values. */
export type AuditChange = { before?: unknown; after?: unknown }

import type { ProblemCode } from '../../../../kernel/problem.ts'
import { Problem, problem } from '../../../../kernel/problem.ts'

/** Codes of google.rpc.Code that exports are answered with. */
export const rpcCodes = {
  ok: 0,
  invalid_argument: 3,
  deadline_exceeded: 4,
  permission_denied: 7,
  failed_precondition: 9,
  resource_exhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const

/** Returns the google.rpc.Code of an error of the catalogue. */
export function rpcCodeFor({ code, status }: Problem): number {
  return codesByProblem[code] ?? (status < 500 ? rpcCodes.invalid_argument : rpcCodes.internal)
}

/** Converts anything thrown while serving an export to an error of the catalogue. */
export function toProblem(error: unknown): Problem {
  return error instanceof Problem ? error : problem('internal_error', { cause: error })
}

/** Returns the message for the client, which hides the cause of an internal error. */
export function clientMessage(fault: Problem): string {
  return fault.status === 500 ? fault.title : fault.message
}

/**
 * Returns the seconds after which the request may be retried. OTLP allows retries after 429, 502,
 * 503 and 504 or, over gRPC, after RetryInfo.
 */
export function retryAfterSeconds({ status, retry_after_s }: Problem): number | undefined {
  return repeatable.has(status) ? (retry_after_s ?? 1) : undefined
}

const repeatable: ReadonlySet<number> = new Set([429, 502, 503, 504])

const codesByProblem: Partial<Record<ProblemCode, number>> = {
  credentials_missing: rpcCodes.unauthenticated,
  credentials_invalid: rpcCodes.unauthenticated,
  permission_denied: rpcCodes.permission_denied,
  project_archived: rpcCodes.failed_precondition,
  route_not_found: rpcCodes.unimplemented,
  method_not_allowed: rpcCodes.unimplemented,
  request_timeout: rpcCodes.deadline_exceeded,
  body_too_large: rpcCodes.resource_exhausted,
  headers_too_large: rpcCodes.resource_exhausted,
  rate_limited: rpcCodes.resource_exhausted,
  store_unavailable: rpcCodes.unavailable,
  overloaded: rpcCodes.unavailable,
  shutting_down: rpcCodes.unavailable,
}

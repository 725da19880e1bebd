import type { Problem } from '../../../../kernel/problem.ts'

/** An error of ours in the providers' format. `param` names the header at fault, if one is. */
export function providerError(problem: Problem): string {
  return JSON.stringify({
    error: {
      message: problem.status >= 500 ? `Looptrace: ${problem.message}` : problem.message,
      type: typeOf(problem.status),
      param: problem.faults[0]?.pointer ?? null,
      code: problem.code,
    },
  })
}

/** The error types that the providers' clients know. */
function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'api_error' : 'invalid_request_error'
}

import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Outcome } from '../../../../model/observation.ts'

const timeoutCodes: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

/** Classifies an error of undici for the client and for the record. */
export function classifyUpstreamError(
  error: Error,
  call: { provider: string; sent: boolean },
): { outcome: Outcome; fault: Problem } {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const { provider, sent } = call
  const withDetail = (detail: string) => ({
    detail: `the provider ${provider} ${detail}`,
    cause: error,
  })
  if (timeoutCodes.has(code)) {
    const detail = sent
      ? 'sent nothing within the idle timeout'
      : 'did not accept a connection in time'
    return { outcome: 'timeout', fault: problem('provider_timeout', withDetail(detail)) }
  }
  if (code === 'UND_ERR_INVALID_ARG') {
    const detail = `the request cannot be forwarded: ${error.message}`
    return { outcome: 'refused', fault: problem('invalid_request', { detail, cause: error }) }
  }
  if (!sent) {
    return {
      outcome: 'upstream_cut',
      fault: problem('provider_unreachable', withDetail('cannot be reached')),
    }
  }
  const detail = code.startsWith('HPE_')
    ? 'sent an invalid HTTP response'
    : 'closed the connection before the answer was complete'
  return { outcome: 'upstream_cut', fault: problem('provider_cut', withDetail(detail)) }
}

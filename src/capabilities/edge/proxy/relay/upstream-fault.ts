import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Outcome } from '../../../../model/observation.ts'

const timeoutCodes: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

/** What an error of undici means for the client and for the record. */
export function upstreamFault(
  error: Error,
  call: { provider: string; sent: boolean },
): { outcome: Outcome; fault: Problem } {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const { provider, sent } = call
  const about = (detail: string) => ({ detail: `the provider ${provider} ${detail}`, cause: error })
  if (timeoutCodes.has(code)) {
    const detail = sent ? 'was silent for too long' : 'took too long to connect to'
    return { outcome: 'timeout', fault: problem('provider_timeout', about(detail)) }
  }
  if (code === 'UND_ERR_INVALID_ARG') {
    const detail = `the request can not be passed on: ${error.message}`
    return { outcome: 'refused', fault: problem('invalid_request', { detail, cause: error }) }
  }
  if (!sent) {
    return {
      outcome: 'upstream_cut',
      fault: problem('provider_unreachable', about('can not be reached')),
    }
  }
  const detail = code.startsWith('HPE_')
    ? 'sent what is no HTTP'
    : 'closed the connection before the answer was whole'
  return { outcome: 'upstream_cut', fault: problem('provider_cut', about(detail)) }
}

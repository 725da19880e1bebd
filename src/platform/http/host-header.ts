import { type Problem, problem } from '../../kernel/problem.ts'

/**
 * Returns the error of a request with several Host headers (RFC 9112, 3.2). Proxies in front may
 * have routed the request by another one than Node's server, which reads the first. `rawHeaders` is
 * name, value, name, value.
 */
export function hostFault(rawHeaders: readonly string[]): Problem | undefined {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) hosts += 1
  }
  if (hosts < 2) return undefined
  const detail = `Host: sent ${hosts} times, expected once`
  return problem('invalid_request', { detail, faults: [{ pointer: 'Host', detail }] })
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../../../../kernel/problem.ts'
import {
  discardRest,
  requestIdFrom,
  securityHeaderList,
  securityHeaders,
} from '../../../../platform/http/index.ts'

/**
 * Formats an error of ours as the providers do. `param` names the faulty header, if there is one.
 */
export function formatProviderError(problem: Problem): string {
  return JSON.stringify({
    error: {
      message: problem.status >= 500 ? `Looptrace: ${problem.message}` : problem.message,
      type: errorTypeFor(problem.status),
      param: problem.faults[0]?.pointer ?? null,
      code: problem.code,
    },
  })
}

/** Returns the error type that clients of the providers know. */
function errorTypeFor(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'api_error' : 'invalid_request_error'
}

const media_type = 'application/json; charset=utf-8'

/** Formats an error of ours as a response in the providers' format. */
export function toProviderFormat(fault: Problem): { media_type: string; body: string } {
  return { media_type, body: formatProviderError(fault) }
}

/** Writes the head and the body of an error of ours; the caller ends the response. */
export function writeProviderError(
  response: ServerResponse,
  fault: Problem,
  headers: { ids: readonly string[]; more: readonly string[] },
): void {
  const body = Buffer.from(formatProviderError(fault))
  response.writeHead(fault.status, [
    'Content-Type',
    media_type,
    'Content-Length',
    String(body.length),
    ...securityHeaderList,
    ...headers.ids,
    ...(fault.retry_after_s === undefined ? [] : ['Retry-After', String(fault.retry_after_s)]),
    ...headers.more,
  ])
  response.write(body)
}

/** Bytes of a refused body that are drained, so that the client can read the response. */
const discarded_bytes_max = 64 * 1024

/** Answers a request that is no call with an error. Closes the connection if it has a body. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  fault: Problem,
): void {
  const body = formatProviderError(fault)
  response.writeHead(fault.status, {
    ...securityHeaders,
    ...fault.headers,
    'Content-Type': media_type,
    'Content-Length': Buffer.byteLength(body),
    'X-Request-ID': requestIdFrom(request.headers['x-request-id']),
    ...(fault.retry_after_s !== undefined && { 'Retry-After': fault.retry_after_s }),
    ...(!request.complete && { Connection: 'close' }),
  })
  response.write(body)
  discardRest(request, response, discarded_bytes_max)
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../../../../kernel/problem.ts'
import { discardRest, requestIdFrom } from '../../../../platform/http/index.ts'

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

const media_type = 'application/json; charset=utf-8'

/** An error of ours as the providers' clients read it. */
export function inProviderFormat(fault: Problem): { media_type: string; body: string } {
  return { media_type, body: providerError(fault) }
}

/** Writes the head and the body of an error of ours; the caller ends the response. */
export function writeProviderError(
  response: ServerResponse,
  fault: Problem,
  headers: { ids: readonly string[]; more: readonly string[] },
): void {
  const body = Buffer.from(providerError(fault))
  response.writeHead(fault.status, [
    'Content-Type',
    media_type,
    'Content-Length',
    String(body.length),
    ...headers.ids,
    ...(fault.retry_after_s === undefined ? [] : ['Retry-After', String(fault.retry_after_s)]),
    ...headers.more,
  ])
  response.write(body)
}

/** Bytes of a refused body that are read and dropped, so that the client can read the response. */
const discarded_bytes_max = 64 * 1024

/** Answers a request that is no call, and closes the connection when it has a body. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  fault: Problem,
): void {
  const body = providerError(fault)
  response.writeHead(fault.status, {
    ...fault.headers,
    'Content-Type': media_type,
    'Content-Length': Buffer.byteLength(body),
    'X-Request-ID': requestIdFrom(request.headers['x-request-id']),
    ...(!request.complete && { Connection: 'close' }),
  })
  response.write(body)
  discardRest(request, response, discarded_bytes_max)
}

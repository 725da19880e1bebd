import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../../../../kernel/problem.ts'
import { discardRest, requestIdFrom } from '../../../../platform/http/index.ts'
import { providerError } from './provider-error.ts'

const media_type = 'application/json; charset=utf-8'

/** An error of ours as the providers' clients read it. */
export function inProviderFormat(fault: Problem): { media_type: string; body: string } {
  return { media_type, body: providerError(fault) }
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

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../../../../kernel/problem.ts'
import {
  discardRest,
  requestIdFrom,
  securityHeaderList,
  securityHeaders,
} from '../../../../platform/http/index.ts'
import type { Dialect, Endpoint } from '../formats.ts'

/** Formats an error as the providers of a dialect do, so that their clients can read it. */
function formatProviderError(fault: Problem, dialect: Dialect): string {
  return JSON.stringify(shapes[dialect](fault))
}

const shapes: Readonly<Record<Dialect, (fault: Problem) => object>> = {
  // https://platform.openai.com/docs/guides/error-codes. `param` names the faulty header.
  openai: (fault) => ({ error: openaiError(fault) }),
  // https://docs.anthropic.com/en/api/errors
  anthropic: (fault) => ({
    type: 'error',
    error: { type: anthropicType(fault.status), message: messageOf(fault) },
  }),
  // https://cloud.google.com/apis/design/errors
  google: (fault) => ({
    error: {
      code: fault.status,
      message: messageOf(fault),
      status: googleStatus(fault.status),
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: fault.code.toUpperCase(),
          domain: 'looptrace',
        },
      ],
    },
  }),
}

function openaiError(fault: Problem) {
  return {
    message: messageOf(fault),
    type: openaiType(fault.status),
    param: fault.faults[0]?.pointer ?? null,
    code: fault.code,
  }
}

function messageOf({ status, message }: Problem): string {
  return status >= 500 ? `Looptrace: ${message}` : message
}

/**
 * Formats an error as an event of a stream. Clients of Responses stop at the member `error`; the
 * other members are those of the error event of that API.
 */
export function formatErrorEvent(fault: Problem, endpoint: Endpoint, dialect: Dialect): string {
  const data = formatProviderError(fault, dialect)
  if (dialect === 'anthropic') return `event: error\ndata: ${data}\n\n`
  if (endpoint === 'responses' || endpoint === 'responses.retrieve') {
    const error = openaiError(fault)
    const { code, message, param } = error
    return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param, error })}\n\n`
  }
  if (endpoint === 'interactions' || endpoint === 'interactions.retrieve') {
    const error = { code: googleStatus(fault.status).toLowerCase(), message: messageOf(fault) }
    return `event: error\ndata: ${JSON.stringify({ error, event_type: 'error' })}\n\n`
  }
  return `data: ${data}\n\n`
}

/** Formats an error as the error event of a socket of Responses. `stream_id` is empty without one. */
export function formatSocketError(fault: Problem, stream_id: string): string {
  const event = { type: 'error', status: fault.status, error: openaiError(fault) }
  return JSON.stringify(stream_id === '' ? event : { ...event, stream_id })
}

function openaiType(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'api_error' : 'invalid_request_error'
}

const anthropicTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

function anthropicType(status: number): string {
  return anthropicTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

/** Names of google.rpc.Code by the status of the answer. */
const googleStatuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function googleStatus(status: number): string {
  return googleStatuses[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
}

const media_type = 'application/json; charset=utf-8'

/** Formats an error as a whole answer. */
export function toProviderFormat(
  fault: Problem,
  dialect: Dialect,
): { media_type: string; body: string } {
  return { media_type, body: formatProviderError(fault, dialect) }
}

/** Writes the head and the body of an error of Looptrace; the caller ends the response. */
export function writeProviderError(
  response: ServerResponse,
  { fault, dialect }: { fault: Problem; dialect: Dialect },
  headers: { ids: readonly string[]; more: readonly string[] },
): void {
  const body = Buffer.from(formatProviderError(fault, dialect))
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

/** Answers a request that is not a call with an error. Closes the connection if it has a body. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { fault, dialect }: { fault: Problem; dialect: Dialect },
): void {
  const body = formatProviderError(fault, dialect)
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

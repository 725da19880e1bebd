import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { newId } from '../../kernel/ids.ts'
import { Problem, problem } from '../../kernel/problem.ts'
import { withoutProjectKeys } from '../../kernel/project-key-text.ts'
import { securityHeaders } from './security-headers.ts'

/** The media type of RFC 9457. */
export const problemMediaType = 'application/problem+json'

/** Builds the response for an error in the product APIs. A 500 reveals no internal details. */
export function problemReply(
  error: Problem,
  instance: string,
): { status: number; headers: Record<string, string>; body: Record<string, unknown> } {
  const detail = error.status === 500 ? error.title : error.message
  return {
    status: error.status,
    headers: {
      ...error.headers,
      'content-type': problemMediaType,
      // RFC 9110, 15.5.2: a 401 names the authentication scheme.
      ...(error.status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(error.retry_after_s !== undefined && { 'retry-after': String(error.retry_after_s) }),
    },
    body: {
      ...error.extensions,
      type: `urn:looptrace:problem:${error.code}`,
      title: error.title,
      status: error.status,
      detail,
      instance: withoutProjectKeys(instance),
      code: error.code,
      ...(error.faults.length > 0 && { errors: error.faults }),
    },
  }
}

/** Translates anything thrown while serving a request to an error of the catalogue. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof Problem) return error
  const code = codeOf(error)
  const known = code === undefined ? undefined : frameworkProblems[code]
  if (known !== undefined) return known(error)
  if (isClientFault(error)) {
    return problem('invalid_request', {
      detail: 'The request is not supported',
      cause: error,
    })
  }
  return problem('internal_error', { cause: error })
}

/** Catalogue errors for Fastify's errors (https://fastify.dev/docs/latest/Reference/Errors/). */
const frameworkProblems: Record<string, (cause: unknown) => Problem> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (cause) =>
    problem('body_too_large', { detail: 'The body exceeds the size limit of this path', cause }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (cause) =>
    problem('unsupported_media_type', { detail: 'Expected content-type application/json', cause }),
  FST_ERR_CTP_EMPTY_JSON_BODY: (cause) =>
    problem('invalid_json', { detail: 'The body is empty, expected JSON', cause }),
  FST_ERR_CTP_INVALID_JSON_BODY: (cause) =>
    problem('invalid_json', {
      detail: 'The body is not valid JSON, or has a forbidden key',
      cause,
    }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: (cause) =>
    problem('invalid_request', { detail: 'Content-Length does not match the body', cause }),
  ECONNRESET: (cause) =>
    problem('invalid_request', {
      detail: 'The connection closed before the end of the body',
      cause,
    }),
  FST_ERR_BAD_URL: (cause) =>
    problem('invalid_request', { detail: 'The path is malformed', cause }),
}

/** Returns whether Fastify would answer the error with a 4xx status. */
function isClientFault(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'FastifyError') return false
  return 'statusCode' in error && Number(error.statusCode) >= 400 && Number(error.statusCode) < 500
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Formats an error for a server: its media type, and the text of its body. */
type ErrorFormat = (fault: Problem) => { media_type: string; body: string }

/**
 * Responds to a request that is not valid HTTP (the server's `clientError` event) and closes the
 * connection. Returns the status, or 0 without a response: the client is gone, or a response is
 * already being sent.
 */
export function answerClientError(error: Error, socket: Socket, format: ErrorFormat): number {
  const code = 'code' in error ? error.code : ''
  if (code === 'ECONNRESET' || !socket.writable || answerBegan(socket)) {
    socket.destroy()
    return 0
  }
  const fault = faultOf(code)
  const { media_type, body } = format(fault)
  socket.end(
    [
      `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}`,
      `Content-Type: ${media_type}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-ID: ${newId()}`,
      ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`),
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  return fault.status
}

/** Formats an error of the product APIs. The path is unknown, because the request is unreadable. */
export const asProblem: ErrorFormat = (fault) => {
  const { headers, body } = problemReply(fault, '')
  return { media_type: headers['content-type'] ?? '', body: JSON.stringify(body) }
}

/**
 * Returns whether a request that is not valid HTTP is for the product APIs. Only the last packet of
 * the request is known, which has the path if the request came in one packet.
 */
export function isForProductApi(error: Error): boolean {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined
  return Buffer.isBuffer(packet) && /^[A-Z]+ \/api\//.test(packet.toString('latin1', 0, 20))
}

function faultOf(code: unknown): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return problem('headers_too_large', { detail: 'the headers of the request are too large' })
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return problem('request_timeout', { detail: 'the request took too long to arrive' })
  }
  return problem('invalid_request', { detail: 'the request is not valid HTTP' })
}

/** Returns whether the socket is sending a response, which node:http keeps in `_httpMessage`. */
function answerBegan(socket: Socket): boolean {
  const message = '_httpMessage' in socket ? socket._httpMessage : undefined
  if (typeof message !== 'object' || message === null) return false
  return 'headersSent' in message && message.headersSent === true
}

/** Time for a rejected client to send the rest of its body and to read the response. */
const wait_ms = 2_000

/**
 * Ends a complete response while the client may still be sending its body. Closing at once would
 * reset the connection before the client reads the response. So the rest of the body is read and
 * discarded, up to `bytes_max` bytes and two seconds, and then the connection is closed.
 */
export function discardRest(
  request: IncomingMessage,
  response: ServerResponse,
  bytes_max: number,
): void {
  let discarded = 0
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, wait_ms).unref()
  response.once('close', () => clearTimeout(timer))
  if (request.complete) {
    end()
    return
  }
  request.once('end', end)
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > bytes_max) end()
  })
  request.resume()
}

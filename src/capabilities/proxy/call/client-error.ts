import type { Socket } from 'node:net'
import { type Problem, problem } from '../../../kernel/problem.ts'
import { providerError } from './provider-error.ts'

/**
 * Answers a request that is no valid HTTP (the server's `clientError` event) in the providers'
 * format and closes the connection. Returns the status, or 0 when nothing could be said:
 * the client is gone, or an answer is already on its way.
 */
export function answerClientError(error: Error, socket: Socket, request_id: string): number {
  const code = 'code' in error ? error.code : ''
  if (code === 'ECONNRESET' || !socket.writable || answerBegan(socket)) {
    socket.destroy()
    return 0
  }
  const fault = faultOf(code)
  const body = providerError(fault)
  socket.end(
    [
      `HTTP/1.1 ${fault.status} ${reasons[fault.status] ?? 'Bad Request'}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-ID: ${request_id}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  return fault.status
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
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

/** node:http keeps the answer that a socket is writing in `_httpMessage`. */
function answerBegan(socket: Socket): boolean {
  const message = '_httpMessage' in socket ? socket._httpMessage : undefined
  if (typeof message !== 'object' || message === null) return false
  return 'headersSent' in message && message.headersSent === true
}

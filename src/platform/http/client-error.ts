import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { newId } from '../../kernel/ids.ts'
import { type Problem, problem } from '../../kernel/problem.ts'
import { problemReply } from './problem-reply.ts'

/** An error in the format of a server: its media type, and the text of its body. */
export type ErrorFormat = (fault: Problem) => { media_type: string; body: string }

/**
 * Answers a request that is no valid HTTP (the server's `clientError` event) and closes the
 * connection. Returns the status, or 0 when nothing could be answered: the client is gone, or an
 * answer is already on its way.
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
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  return fault.status
}

/** The format of the product APIs. The path is not known: the request could not be read. */
export const asProblem: ErrorFormat = (fault) => {
  const { headers, body } = problemReply(fault, '')
  return { media_type: headers['content-type'] ?? '', body: JSON.stringify(body) }
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

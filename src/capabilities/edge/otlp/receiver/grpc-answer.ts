import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Problem } from '../../../../kernel/problem.ts'
import { encodeStatus } from '../decode/answer/status.ts'
import { framed } from './grpc-message.ts'
import { messageOf, retryAfter_s, rpcCodeOf, rpcCodes } from './status-codes.ts'

/** Characters of an error's text that are sent. */
const messageCharacters_max = 1_000

const successHead = { ':status': 200, 'content-type': 'application/grpc' }

/** Answers with the message; the ids go with the status, in the trailers. */
export function sendMessage(
  stream: ServerHttp2Stream,
  message: Buffer,
  about: { request_id: string; ingest_request_id: string },
): void {
  if (stream.closed || stream.destroyed) return
  const trailers: OutgoingHttpHeaders = { 'grpc-status': '0', 'x-request-id': about.request_id }
  if (about.ingest_request_id !== '') trailers['x-ingest-request-id'] = about.ingest_request_id
  stream.respond(successHead, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  stream.end(framed(message))
}

/**
 * Answers with an error: the status is in the only headers, and a client that is still sending is
 * told to stop. One that does not speak gRPC gets the status of HTTP alone.
 */
export function sendRefusal(
  stream: ServerHttp2Stream,
  fault: Problem,
  about: { request_id: string; asGrpc: boolean },
): void {
  if (stream.closed || stream.destroyed) return
  const headers = about.asGrpc ? grpcStatus(fault) : httpStatus(fault)
  headers['x-request-id'] = about.request_id
  stream.respond(headers, { endStream: true })
  stream.resume()
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
}

/** With RetryInfo in its details where the call may be repeated. */
function grpcStatus(fault: Problem): OutgoingHttpHeaders {
  const code = codeOf(fault)
  const message = messageOf(fault)
  const headers: OutgoingHttpHeaders = {
    ...successHead,
    'grpc-status': String(code),
    'grpc-message': percentEncoded(message.slice(0, messageCharacters_max)),
  }
  const retry_s = retryAfter_s(fault)
  if (retry_s !== undefined) {
    const details = encodeStatus('protobuf', { code, message, retry_delay_ms: retry_s * 1000 })
    headers['grpc-status-details-bin'] = details.toString('base64')
  }
  if (fault.code === 'unsupported_media_type') headers['grpc-accept-encoding'] = 'identity,gzip'
  return headers
}

/** Of the media types of a gRPC call only the encoding is at fault, which has a code of its own. */
function codeOf(fault: Problem): number {
  return fault.code === 'unsupported_media_type' ? rpcCodes.unimplemented : rpcCodeOf(fault)
}

function httpStatus(fault: Problem): OutgoingHttpHeaders {
  return { ':status': fault.status, ...(fault.code === 'method_not_allowed' && { allow: 'POST' }) }
}

/** Printable ASCII but for the percent sign goes as it is (gRPC over HTTP/2, Status-Message). */
function percentEncoded(text: string): string {
  return text.toWellFormed().replaceAll(/[^ -$&-~]+/g, encodeURIComponent)
}

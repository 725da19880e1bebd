import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../../../../kernel/problem.ts'
import { discardRest } from '../../../../platform/http/index.ts'
import type { OtlpEncoding } from '../decode/answer/export-response.ts'
import { encodeStatus } from '../decode/answer/status.ts'
import { messageOf, retryAfter_s, rpcCodeOf } from './status-codes.ts'

/** Up to so many bytes that nobody wants are read, so that the connection can be used again. */
const discarded_bytes_max = 64 * 1024

const mediaTypes: Record<OtlpEncoding, string> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}

/** Answers with 200 and the response message. */
export function sendResult(
  response: ServerResponse,
  encoding: OtlpEncoding,
  answer: { body: Buffer; request_id: string; ingest_request_id: string },
): void {
  const { body, request_id, ingest_request_id } = answer
  const headers = [
    ...headersOf(encoding, body, request_id),
    ...(ingest_request_id === '' ? [] : ['X-Ingest-Request-ID', ingest_request_id]),
  ]
  response.writeHead(200, headers).end(body)
}

/**
 * Answers with an error, as a google.rpc.Status. When much of the request is still to come, the
 * connection is closed after the client had time to read the answer.
 */
export function sendFault(
  exchange: { request: IncomingMessage; response: ServerResponse },
  fault: Problem,
  about: { encoding: OtlpEncoding; request_id: string; headers: readonly string[] },
): void {
  const { request, response } = exchange
  const retry_after_s = retryAfter_s(fault)
  const body = encodeStatus(about.encoding, {
    code: rpcCodeOf(fault),
    message: messageOf(fault),
    retry_delay_ms: retry_after_s === undefined ? undefined : retry_after_s * 1000,
  })
  const close = fault.code === 'shutting_down' || restIsLarge(request)
  const headers = [...headersOf(about.encoding, body, about.request_id), ...about.headers]
  if (retry_after_s !== undefined) headers.push('Retry-After', String(retry_after_s))
  if (close) headers.push('Connection', 'close')
  response.writeHead(fault.status, headers)
  response.write(body)
  if (close) discardRest(request, response, discarded_bytes_max)
  else response.end()
}

function headersOf(encoding: OtlpEncoding, body: Buffer, request_id: string): string[] {
  return [
    'Content-Type',
    mediaTypes[encoding],
    'Content-Length',
    String(body.length),
    'X-Request-ID',
    request_id,
  ]
}

function restIsLarge(request: IncomingMessage): boolean {
  if (request.complete) return false
  const declared = request.headers['content-length']
  return declared === undefined || Number(declared) > discarded_bytes_max
}

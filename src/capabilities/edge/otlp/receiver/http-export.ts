import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import { discardRest, requestIdFrom, securityHeaderList } from '../../../../platform/http/index.ts'
import {
  encodeExportResponse,
  encodeStatus,
  type OtlpEncoding,
  type OtlpSignal,
} from '../decode/answers.ts'
import { BodyBytes, overloaded, tooLarge } from './inflight-bytes.ts'
import {
  ClientGone,
  type ExportCredentials,
  type ReceiverServices,
  readBody,
  unpack,
} from './intake.ts'
import { clientMessage, retryAfterSeconds, rpcCodeFor, toProblem } from './status-codes.ts'

/** One HTTP request in progress. */
type HttpExport = {
  request: IncomingMessage
  response: ServerResponse
  signal: OtlpSignal
  /** The encoding of the reply, which is the request's if it is supported. */
  encoding: OtlpEncoding
  request_id: string
  held: BodyBytes
  authorised?: () => void
}

/** The signal of the path, and what is called when the key is valid. */
type Asked = Pick<HttpExport, 'signal' | 'authorised'>

/** Makes the handler of HTTP requests to the path of a signal. It never throws. */
export function createHttpExport(
  services: ReceiverServices,
): (request: IncomingMessage, response: ServerResponse, asked: Asked) => void {
  return (request, response, { signal, authorised }) => {
    const encoding = encodingOf(request)
    const request_id = requestIdFrom(request.headers['x-request-id'])
    const held = new BodyBytes(services.inflight)
    const call: HttpExport = {
      request,
      response,
      signal,
      encoding: encoding ?? 'json',
      request_id,
      held,
      ...(authorised !== undefined && { authorised }),
    }
    services.began()
    serve(call, services)
      .catch((error: unknown) => refuse(call, services, error))
      .then((result) => {
        held.release()
        services.ended({ transport: 'http', encoding: encoding ?? 'none', result })
      })
  }
}

/** Answers a request that is not an export with an error, in the encoding of the request. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  fault: Problem,
): void {
  sendFault({ request, response }, fault, {
    encoding: encodingOf(request) ?? 'json',
    request_id: requestIdFrom(request.headers['x-request-id']),
  })
}

/** Serves a request. Resolves with the result to count; rejects with the error to answer. */
async function serve(call: HttpExport, services: ReceiverServices): Promise<string> {
  const { request, signal, encoding } = call
  if (request.method !== 'POST') throw methodRefused(request)
  const asked = services.admit(credentialsOf(request))
  const admission = asked instanceof Promise ? await asked : asked
  if (admission.fault) return refuse(call, services, admission.fault)
  call.authorised?.()
  checkHead(request, services)
  if (signal === 'litellm' && encoding !== 'json') throw notJson()
  const body = await bodyOf(call, services)
  const { baggage } = request.headers
  const { rejected, message, ingest_request_id } = await services.take({
    signal,
    encoding,
    body,
    project_id: admission.key.project_id,
    environment: admission.key.environment ?? '',
    release: '',
    received_at_ms: services.clock.now_ms(),
    ...(typeof baggage === 'string' && { baggage }),
  })
  const answer = encodeExportResponse(encoding, signal, { rejected, error_message: message })
  sendResult(call.response, encoding, {
    body: answer,
    request_id: call.request_id,
    ingest_request_id,
  })
  return rejected > 0 ? 'partial' : 'ok'
}

async function bodyOf(call: HttpExport, services: ReceiverServices): Promise<Buffer> {
  const { request, held } = call
  const { body_bytes_max, body_idle_timeout_ms } = services.settings
  const limits = { bytes_max: body_bytes_max, idle_timeout_ms: body_idle_timeout_ms }
  const came = await readBody(request, limits, held)
  const body = isGzip(request) ? await unpack(came, body_bytes_max, held) : came
  services.meters.received('http', came.length, body.length)
  return body
}

/** Answers with an error, unless the client has left. Returns the result to count. */
function refuse(call: HttpExport, { quietLog }: ReceiverServices, error: unknown): string {
  if (error instanceof ClientGone) return 'client_gone'
  const fault = toProblem(error)
  if (fault.status >= 500) {
    quietLog(`OTLP over HTTP: ${fault.code}`, { err: fault.cause ?? fault })
  }
  if (!call.response.headersSent) {
    sendFault(call, fault, call)
  }
  return fault.code
}

function notJson(): Problem {
  const detail = 'content type application/x-protobuf: expected application/json'
  return problem('unsupported_media_type', { detail })
}

/** Returns the error of a request with another method than the one of its path. */
export function methodRefused({ method }: IncomingMessage, expected = 'POST'): Problem {
  const detail = `expected ${expected}, got ${method}`
  return problem('method_not_allowed', { detail, headers: { Allow: expected } })
}

/** Returns the encoding of a content type, ignoring its parameters; undefined for any other. */
function encodingOf({ headers }: IncomingMessage): OtlpEncoding | undefined {
  const type = headers['content-type'] ?? ''
  const end = type.indexOf(';')
  const media = (end === -1 ? type : type.slice(0, end)).trim().toLowerCase()
  if (media === 'application/x-protobuf') return 'protobuf'
  return media === 'application/json' ? 'json' : undefined
}

/** Returns the headers that may carry a project key. */
export function credentialsOf({ headers }: Pick<IncomingMessage, 'headers'>): ExportCredentials {
  const api_key = headers['x-api-key'] ?? headers['x-looptrace-key']
  return {
    api_key: typeof api_key === 'string' ? api_key : undefined,
    authorization: headers.authorization,
  }
}

/**
 * Checks the headers before any byte is read. Throws `unsupported_media_type`, `body_too_large` or
 * `overloaded`.
 */
function checkHead(request: IncomingMessage, services: ReceiverServices): void {
  const { 'content-type': type = '', 'content-length': declared } = request.headers
  if (encodingOf(request) === undefined) {
    const detail = `content type ${quoted(type)}: expected application/x-protobuf or application/json`
    throw problem('unsupported_media_type', { detail })
  }
  const packing = packingOf(request)
  if (packing !== '' && packing !== 'identity' && packing !== 'gzip') {
    const detail = `content encoding ${quoted(packing)}: expected gzip, identity or none`
    throw problem('unsupported_media_type', { detail })
  }
  if (declared === undefined) return
  const { body_bytes_max, inflight_bytes_max } = services.settings
  const length = Number(declared)
  if (length > body_bytes_max) throw tooLarge(body_bytes_max)
  if (services.inflight.held_bytes + length > inflight_bytes_max) throw overloaded()
}

export function isGzip(request: IncomingMessage): boolean {
  return packingOf(request) === 'gzip'
}

function packingOf({ headers }: IncomingMessage): string {
  return (headers['content-encoding'] ?? '').trim().toLowerCase()
}

/** Quotes a client's value, cut to a bounded length. */
export function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 100))
}

/** Maximum unread bytes that are drained, so that the connection can be reused. */
export const discarded_bytes_max = 64 * 1024

const mediaTypes: Record<OtlpEncoding, string> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}

/** Answers 200 with the response message. */
function sendResult(
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
 * Answers with an error as a google.rpc.Status. If much of the request is still to come, the
 * connection is closed once the client had time to read the reply.
 */
function sendFault(
  exchange: { request: IncomingMessage; response: ServerResponse },
  fault: Problem,
  reply: { encoding: OtlpEncoding; request_id: string },
): void {
  const { request, response } = exchange
  const retry_after_s = retryAfterSeconds(fault)
  const close = closesConnection(request, fault)
  const body = encodeStatus(reply.encoding, {
    code: rpcCodeFor(fault),
    message: clientMessage(fault),
    retry_delay_ms: retry_after_s === undefined ? undefined : retry_after_s * 1000,
  })
  const headers = [
    ...headersOf(reply.encoding, body, reply.request_id),
    ...headersOfFault(request, fault),
  ]
  response.writeHead(fault.status, headers)
  response.write(body)
  if (close) discardRest(request, response, discarded_bytes_max)
  else response.end()
}

/**
 * Returns the headers of an error of its own: `RateLimit-*`, `Allow`, `Retry-After`, and `Connection` if the
 * connection is closed.
 */
export function headersOfFault(request: IncomingMessage, fault: Problem): string[] {
  const headers = Object.entries(fault.headers).flat()
  const retry_after_s = retryAfterSeconds(fault)
  if (retry_after_s !== undefined) headers.push('Retry-After', String(retry_after_s))
  if (closesConnection(request, fault)) headers.push('Connection', 'close')
  return headers
}

/** Returns whether the connection is closed after an error. */
export function closesConnection(request: IncomingMessage, { code }: Problem): boolean {
  return code === 'shutting_down' || restIsLarge(request)
}

function headersOf(encoding: OtlpEncoding, body: Buffer, request_id: string): string[] {
  return [
    'Content-Type',
    mediaTypes[encoding],
    'Content-Length',
    String(body.length),
    'X-Request-ID',
    request_id,
    ...securityHeaderList,
  ]
}

/** Returns whether the unread part of a request is too large, or may be, to read on. */
export function restIsLarge(request: IncomingMessage): boolean {
  if (request.complete) return false
  const { 'content-length': declared, 'transfer-encoding': coding } = request.headers
  return declared === undefined ? coding !== undefined : Number(declared) > discarded_bytes_max
}

import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import { encodeStatus, type OtlpSignal } from '../decode/answers.ts'
import { quoted } from './http-export.ts'
import { tooLarge } from './inflight-bytes.ts'
import { clientMessage, retryAfterSeconds, rpcCodeFor, rpcCodes } from './status-codes.ts'

/** The properties of a call, from its headers. */
export type GrpcHead = {
  signal: OtlpSignal
  /** The encoding of the message if its frame marks it as compressed. */
  packing: 'identity' | 'gzip'
}

const signals: ReadonlyMap<string, OtlpSignal> = new Map([
  ['/opentelemetry.proto.collector.trace.v1.TraceService/Export', 'traces'],
  ['/opentelemetry.proto.collector.logs.v1.LogsService/Export', 'logs'],
  ['/opentelemetry.proto.collector.metrics.v1.MetricsService/Export', 'metrics'],
])

/** Returns true for a gRPC request; any other is answered with an HTTP status. */
export function isGrpc(headers: IncomingHttpHeaders): boolean {
  return headers[':method'] === 'POST' && contentType.test(headers['content-type'] ?? '')
}

const contentType = /^application\/grpc(?:\+proto)? *(?:;|$)/i

/**
 * Throws `method_not_allowed` or `unsupported_media_type` for a request that is not gRPC,
 * `route_not_found` for an unknown method, `unsupported_media_type` for an unknown encoding.
 */
export function grpcHeadOf(headers: IncomingHttpHeaders): GrpcHead {
  if (!isGrpc(headers)) throw noGrpc(headers)
  const path = headers[':path'] ?? ''
  const signal = signals.get(path)
  if (signal === undefined) {
    const expected = 'TraceService/Export, LogsService/Export or MetricsService/Export'
    const detail = `${quoted(path)} is unknown: expected ${expected}`
    throw problem('route_not_found', { detail })
  }
  const packing = headers['grpc-encoding'] ?? 'identity'
  if (packing !== 'identity' && packing !== 'gzip') {
    const detail = `grpc-encoding ${quoted(String(packing))}: expected gzip, identity or none`
    throw problem('unsupported_media_type', { detail })
  }
  return { signal, packing }
}

function noGrpc({
  ':method': method = '',
  'content-type': type = '',
}: IncomingHttpHeaders): Problem {
  if (method !== 'POST') {
    return problem('method_not_allowed', { detail: `expected POST, got ${quoted(method)}` })
  }
  const detail = `content type ${quoted(type)}: expected application/grpc`
  return problem('unsupported_media_type', { detail })
}

/**
 * Returns the client's timeout in milliseconds (`grpc-timeout`: at most eight digits and a unit),
 * rounded up to a tenth of a second; undefined when it is absent or invalid.
 */
export function timeoutOfMs({ 'grpc-timeout': text }: IncomingHttpHeaders): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(String(text ?? '')) ?? []
  const unit_ms = unitsOfMs[unit]
  if (unit_ms === undefined) return undefined
  const timeout_ms = Math.ceil((Number(digits) * unit_ms) / timeoutStepMs) * timeoutStepMs
  return timeout_ms > timer_ms_max ? undefined : timeout_ms
}

/**
 * node keeps timers of one duration in one list, and clients' timeouts would all differ a little.
 */
const timeoutStepMs = 100
/** The longest timer that node supports. */
const timer_ms_max = 2 ** 31 - 1

const unitsOfMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000001,
}

/** The prefix of a message: one byte that marks it as compressed, four with its length. */
const prefix_bytes = 5

/**
 * Checks the body of a unary call, which is one framed message (Length-Prefixed-Message of gRPC
 * over HTTP/2), and refuses anything else as early as possible.
 */
export class MessageFrame {
  readonly #bytes_max: number
  readonly #prefix = Buffer.alloc(prefix_bytes)
  #seen_bytes = 0

  /** A message of more than `bytes_max` is refused once its length is known. */
  constructor(bytes_max: number) {
    this.#bytes_max = bytes_max
  }

  get isPacked(): boolean {
    return this.#prefix[0] === 1
  }

  /** Checks the next piece. Throws `invalid_request` or `body_too_large`. */
  inspect(piece: Buffer): void {
    if (this.#seen_bytes < prefix_bytes) piece.copy(this.#prefix, this.#seen_bytes)
    this.#seen_bytes += piece.length
    const [flag = 0] = this.#prefix
    if (flag > 1) throw notOneMessage(`its first byte is ${flag}, expected 0 or 1`)
    if (this.#seen_bytes < prefix_bytes) return
    const length = this.#prefix.readUInt32BE(1)
    if (length > this.#bytes_max) throw tooLarge(this.#bytes_max)
    if (this.#seen_bytes > prefix_bytes + length) throw notOneMessage('more bytes follow it')
  }

  /** Returns the message in an inspected body. Throws `invalid_request` when it is incomplete. */
  messageIn(body: Buffer): Buffer {
    const length = this.#prefix.readUInt32BE(1)
    if (body.length !== prefix_bytes + length) throw notOneMessage('it is incomplete')
    return body.subarray(prefix_bytes)
  }
}

/** Frames a reply. */
function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(prefix_bytes + message.length)
  frame[0] = 0
  frame.writeUInt32BE(message.length, 1)
  message.copy(frame, prefix_bytes)
  return frame
}

/** Returns the length of a body with a message of `message_bytes`. */
export function framedBytes(message_bytes: number): number {
  return prefix_bytes + message_bytes
}

function notOneMessage(reason: string): Problem {
  return problem('invalid_request', {
    detail: `the call must contain exactly one message: ${reason}`,
  })
}

/** Maximum characters of an error's text. */
const maxMessageCharacters = 1_000

const successHead = { ':status': 200, 'content-type': 'application/grpc' }

/** Answers with a message; the trailers carry the ids and the status. */
export function sendMessage(
  stream: ServerHttp2Stream,
  message: Buffer,
  reply: { request_id: string; ingest_request_id: string },
): void {
  if (stream.closed || stream.destroyed) return
  const trailers: OutgoingHttpHeaders = { 'grpc-status': '0', 'x-request-id': reply.request_id }
  if (reply.ingest_request_id !== '') trailers['x-ingest-request-id'] = reply.ingest_request_id
  stream.respond(successHead, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  stream.end(framed(message))
}

/**
 * Answers with an error. The only headers carry the status, and a client that is still sending is
 * stopped. A client that does not speak gRPC gets an HTTP status only.
 */
export function sendRefusal(
  stream: ServerHttp2Stream,
  fault: Problem,
  reply: { request_id: string; asGrpc: boolean },
): void {
  if (stream.closed || stream.destroyed) return
  const headers = reply.asGrpc ? grpcStatus(fault) : httpStatus(fault)
  headers['x-request-id'] = reply.request_id
  stream.respond(headers, { endStream: true })
  stream.resume()
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
}

/** Returns the headers of a status, with RetryInfo in its details if the call may be retried. */
function grpcStatus(fault: Problem): OutgoingHttpHeaders {
  const code = codeOf(fault)
  const message = clientMessage(fault)
  const headers: OutgoingHttpHeaders = {
    ...successHead,
    'grpc-status': String(code),
    'grpc-message': percentEncoded(message.slice(0, maxMessageCharacters)),
  }
  const retry_s = retryAfterSeconds(fault)
  if (retry_s !== undefined) {
    const details = encodeStatus('protobuf', { code, message, retry_delay_ms: retry_s * 1000 })
    headers['grpc-status-details-bin'] = details.toString('base64')
  }
  if (fault.code === 'unsupported_media_type') headers['grpc-accept-encoding'] = 'identity,gzip'
  return headers
}

/**
 * Here an unsupported media type means the message encoding, for which gRPC has a code of its own.
 */
function codeOf(fault: Problem): number {
  return fault.code === 'unsupported_media_type' ? rpcCodes.unimplemented : rpcCodeFor(fault)
}

function httpStatus(fault: Problem): OutgoingHttpHeaders {
  return { ':status': fault.status, ...(fault.code === 'method_not_allowed' && { allow: 'POST' }) }
}

/** Leaves printable ASCII except the percent sign as it is (gRPC over HTTP/2, Status-Message). */
function percentEncoded(text: string): string {
  return text.toWellFormed().replaceAll(/[^ -$&-~]+/g, encodeURIComponent)
}

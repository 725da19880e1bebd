import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import { requestIdFrom } from '../../../../platform/http/index.ts'
import { encodeExportResponse } from '../decode/answer/export-response.ts'
import { sendMessage, sendRefusal } from './grpc-answer.ts'
import { type GrpcHead, grpcHeadOf, isGrpc, timeoutOf_ms } from './grpc-head.ts'
import { framedBytes, MessageFrame } from './grpc-message.ts'
import { credentialsOf } from './http-head.ts'
import { BodyBytes } from './inflight-bytes.ts'
import { ClientGone, readBody } from './read-body.ts'
import type { ReceiverServices } from './services.ts'
import { problemOf } from './status-codes.ts'
import { unpack } from './unpack.ts'

/** One call on its way through. */
type GrpcExport = {
  stream: ServerHttp2Stream
  headers: IncomingHttpHeaders
  held: BodyBytes
  /** What is to be counted, once it is answered. */
  result: string
}

/** Makes what answers one gRPC call. It never throws. */
export function createGrpcExport(
  services: ReceiverServices,
): (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void {
  return (stream, headers) => {
    const call: GrpcExport = { stream, headers, held: new BodyBytes(services.inflight), result: '' }
    // What a client does to its own stream; its close says the same.
    stream.on('error', () => undefined)
    services.began()
    const timer = deadlineOf(call, services)
    serve(call, services)
      .catch((error: unknown) => refuse(call, services, error))
      .then(() => {
        clearTimeout(timer)
        call.held.release()
        const encoding = isGrpc(headers) ? 'protobuf' : 'none'
        services.ended({ transport: 'grpc', encoding, result: call.result })
      })
  }
}

/** What is under way by then goes on, for a queue can't take back what it was given. */
function deadlineOf(call: GrpcExport, services: ReceiverServices): NodeJS.Timeout | undefined {
  const timeout_ms = timeoutOf_ms(call.headers)
  if (timeout_ms === undefined) return undefined
  return setTimeout(() => refuse(call, services, late(timeout_ms)), timeout_ms)
}

/** Rejects with what is to be answered. */
async function serve(call: GrpcExport, services: ReceiverServices): Promise<void> {
  const { headers, stream } = call
  const head = grpcHeadOf(headers)
  const asked = services.admit(credentialsOf(call))
  const admission = asked instanceof Promise ? await asked : asked
  if (admission.fault) throw admission.fault
  const { baggage } = headers
  const { rejected, message, ingest_request_id } = await services.take({
    signal: head.signal,
    encoding: 'protobuf',
    body: await messageOf(call, head, services),
    project_id: admission.key.project_id,
    environment: admission.key.environment ?? '',
    release: '',
    received_at_ms: services.clock.now_ms(),
    ...(typeof baggage === 'string' && { baggage }),
  })
  const partial = { rejected, error_message: message }
  sendMessage(stream, encodeExportResponse('protobuf', head.signal, partial), {
    request_id: requestIdFrom(headers['x-request-id']),
    ingest_request_id,
  })
  settle(call, rejected > 0 ? 'partial' : 'ok')
}

async function messageOf(
  { stream, held }: GrpcExport,
  { packing }: GrpcHead,
  { settings, meters }: ReceiverServices,
): Promise<Buffer> {
  const { body_bytes_max, body_idle_timeout_ms: idle_timeout_ms } = settings
  const frame = new MessageFrame(body_bytes_max)
  const bytes_max = framedBytes(body_bytes_max)
  const inspect = (piece: Buffer) => frame.inspect(piece)
  const came = await readBody(stream, { bytes_max, idle_timeout_ms, inspect }, held)
  const message = frame.messageIn(came)
  if (frame.isPacked && packing === 'identity') throw packedUnsaid()
  const body = frame.isPacked ? await unpack(message, body_bytes_max, held) : message
  meters.received('grpc', came.length, body.length)
  return body
}

/** Answers with the error, unless the call has its answer or the client has left. */
function refuse(call: GrpcExport, { quietLog }: ReceiverServices, error: unknown): void {
  if (call.result !== '') return
  if (error instanceof ClientGone) {
    settle(call, 'client_gone')
    return
  }
  const fault = problemOf(error)
  if (fault.status >= 500) {
    quietLog(`OTLP over gRPC: ${fault.code}`, { err: fault.cause ?? fault })
  }
  const request_id = requestIdFrom(call.headers['x-request-id'])
  sendRefusal(call.stream, fault, { request_id, asGrpc: isGrpc(call.headers) })
  settle(call, fault.code)
}

/** What is said first counts. */
function settle(call: GrpcExport, result: string): void {
  if (call.result === '') call.result = result
}

function late(timeout_ms: number): Problem {
  const detail = `the call was not answered within the ${timeout_ms} ms of its grpc-timeout`
  return problem('request_timeout', { detail })
}

function packedUnsaid(): Problem {
  const detail = 'the message says it is packed, but no grpc-encoding came'
  return problem('invalid_request', { detail })
}

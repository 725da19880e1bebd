import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import { addressTaken, requestIdFrom } from '../../../../platform/http/index.ts'
import { encodeExportResponse } from '../decode/answers.ts'
import type { OtlpGrpcOptions, OtlpGrpcServer } from './contract.ts'
import {
  framedBytes,
  type GrpcHead,
  grpcHeadOf,
  isGrpc,
  MessageFrame,
  sendMessage,
  sendRefusal,
  timeoutOfMs,
} from './grpc-protocol.ts'
import { credentialsOf } from './http-export.ts'
import { BodyBytes } from './inflight-bytes.ts'
import { ClientGone, type ReceiverServices, readBody, unpack } from './intake.ts'
import { toProblem } from './status-codes.ts'

/** A connection that does not answer a ping within this time is closed. */
const keepaliveTimeoutMs = 20_000

/**
 * Bytes that a client may send ahead, even while its key is looked up. HTTP/2's default of 64 KiB
 * would pause most requests.
 */
const flowWindowBytes = 256 * 1024

/** Maximum bytes of a call's headers: a key, a baggage of 8 KiB and additions of gateways. */
const headers_bytes_max = 32 * 1024

/**
 * Listens for gRPC: unary calls over HTTP/2 without TLS (h2c), which is all that OTLP needs. Throws
 * AddressUnavailable when the address is taken.
 */
export async function startGrpc(
  services: ReceiverServices,
  { host, port, streams_max, keepalive_ms }: OtlpGrpcOptions,
): Promise<OtlpGrpcServer> {
  const server = createServer({
    settings: {
      maxConcurrentStreams: streams_max,
      initialWindowSize: flowWindowBytes,
      maxHeaderListSize: headers_bytes_max,
    },
  })
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  let closed: Promise<void> | undefined
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.setLocalWindowSize(flowWindowBytes)
    keepAlive(session, keepalive_ms)
    if (closed) session.close()
  })
  server.on('stream', createGrpcExport(services))
  const bound = await listening(server, host, port)
  return {
    port: bound,
    close: async (grace_ms) => {
      closed ??= new Promise((resolve) => server.close(() => resolve()))
      for (const session of sessions) session.close()
      const force = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, grace_ms)
      await closed
      clearTimeout(force)
    },
  }
}

function listening(server: Http2Server, host: string, port: number): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  }).catch(addressTaken(host, port))
}

/** Pings the connection, and closes it when the peer is gone or does not speak HTTP/2. */
function keepAlive(session: ServerHttp2Session, every_ms: number): void {
  let unanswered: NodeJS.Timeout | undefined
  const ping = () => {
    if (unanswered !== undefined) return
    unanswered = setTimeout(() => session.destroy(), keepaliveTimeoutMs)
    session.ping(() => {
      clearTimeout(unanswered)
      unanswered = undefined
    })
  }
  const timer = setInterval(ping, every_ms)
  session.once('close', () => {
    clearInterval(timer)
    clearTimeout(unanswered)
  })
}

/** One call in progress. */
type GrpcExport = {
  stream: ServerHttp2Stream
  headers: IncomingHttpHeaders
  held: BodyBytes
  /** The result to count; empty until the call is answered. */
  result: string
}

/** Makes the handler of gRPC calls. It never throws. */
function createGrpcExport(
  services: ReceiverServices,
): (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void {
  return (stream, headers) => {
    const call: GrpcExport = { stream, headers, held: new BodyBytes(services.inflight), result: '' }
    // Errors of the stream are the client's; its close event reports the same.
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

/**
 * Answers at the client's deadline. Work in progress continues, because the queue cannot return a
 * message.
 */
function deadlineOf(call: GrpcExport, services: ReceiverServices): NodeJS.Timeout | undefined {
  const timeout_ms = timeoutOfMs(call.headers)
  if (timeout_ms === undefined) return undefined
  return setTimeout(() => refuse(call, services, late(timeout_ms)), timeout_ms)
}

/** Serves a call. Rejects with the error to answer. */
async function serve(call: GrpcExport, services: ReceiverServices): Promise<void> {
  const { headers, stream } = call
  limitHeaders(headers)
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

/** HTTP/2 only advises clients of the limit, so the server counts too. */
function limitHeaders(headers: IncomingHttpHeaders): void {
  let bytes = 0
  for (const [name, value] of Object.entries(headers)) bytes += name.length + String(value).length
  if (bytes <= headers_bytes_max) return
  const detail = `got ${bytes} bytes of headers, expected at most ${headers_bytes_max}`
  throw problem('headers_too_large', { detail })
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

/** Answers with an error, unless the call is answered or the client has left. */
function refuse(call: GrpcExport, { quietLog }: ReceiverServices, error: unknown): void {
  if (call.result !== '') return
  if (error instanceof ClientGone) {
    settle(call, 'client_gone')
    return
  }
  const fault = toProblem(error)
  if (fault.status >= 500) {
    quietLog(`OTLP over gRPC: ${fault.code}`, { err: fault.cause ?? fault })
  }
  const request_id = requestIdFrom(call.headers['x-request-id'])
  sendRefusal(call.stream, fault, { request_id, asGrpc: isGrpc(call.headers) })
  settle(call, fault.code)
}

/** Sets the result of the call; the first one counts. */
function settle(call: GrpcExport, result: string): void {
  if (call.result === '') call.result = result
}

function late(timeout_ms: number): Problem {
  const detail = `the call took longer than its grpc-timeout of ${timeout_ms} ms`
  return problem('request_timeout', { detail })
}

function packedUnsaid(): Problem {
  const detail = 'the message is marked as compressed, but grpc-encoding is missing'
  return problem('invalid_request', { detail })
}

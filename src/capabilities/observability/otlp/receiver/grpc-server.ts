import {
  type handleUnaryCall,
  logVerbosity,
  Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServiceDefinition,
  setLogVerbosity,
} from '@grpc/grpc-js'
import { sleep } from '../../../../kernel/time.ts'
import { AddressUnavailable, requestIdFrom } from '../../../../platform/http/index.ts'
import { encodeExportResponse, type OtlpSignal } from '../decode/answer/export-response.ts'
import type { Admission, ExportCredentials } from './admission.ts'
import type { OtlpGrpcOptions, OtlpGrpcServer } from './contract.ts'
import { type AdmittedCalls, GrpcCall } from './grpc-call.ts'
import { statusOf } from './grpc-status.ts'
import type { ReceiverServices } from './services.ts'
import { problemOf } from './status-codes.ts'

/** Without a sign of life for so long after it was asked for, a connection is closed. */
const keepaliveTimeout_ms = 20_000

/** What a client may send ahead; the 64 KiB of HTTP/2 make it stop and wait in most requests. */
const flowWindow_bytes = 256 * 1024

/** Listens for exports over gRPC. Throws AddressUnavailable when it can't. */
export async function startGrpc(
  services: ReceiverServices,
  { host, port, streams_max, keepalive_ms }: OtlpGrpcOptions,
): Promise<OtlpGrpcServer> {
  // It would write lines of its own between those of our log; what matters is thrown or counted.
  setLogVerbosity(logVerbosity.NONE)
  const admitted: AdmittedCalls = new WeakMap()
  const open = new Set<GrpcCall>()
  const server = new Server({
    'grpc.max_receive_message_length': services.settings.body_bytes_max,
    'grpc.max_concurrent_streams': streams_max,
    'grpc.keepalive_time_ms': keepalive_ms,
    'grpc.keepalive_timeout_ms': keepaliveTimeout_ms,
    'grpc.enable_channelz': 0,
    'grpc-node.flow_control_window': flowWindow_bytes,
    interceptors: [gate(services, admitted, open)],
  })
  for (const signal of ['traces', 'logs'] as const) {
    server.addService(definitions[signal], { Export: exporter(services, signal, admitted) })
  }
  const bound = await bind(server, host, port)
  return {
    port: bound,
    close: async (grace_ms) => {
      const ended = new AbortController()
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      await Promise.race([closed.then(() => ended.abort()), sleep(grace_ms, ended.signal)])
      for (const call of open) call.abandon()
      await closed
    },
  }
}

function bind(server: Server, host: string, port: number): Promise<number> {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (cause, bound) => {
      if (cause === null) resolve(bound)
      else reject(new AddressUnavailable(`${address}: ${cause.message}`, { cause }))
    })
  })
}

/** Messages are handed on as bytes: they are for our own decoder. */
function definition(service: string): ServiceDefinition {
  const asIs = (bytes: Buffer) => bytes
  return {
    Export: {
      path: `/opentelemetry.proto.collector.${service}/Export`,
      requestStream: false,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  }
}

const definitions: Record<OtlpSignal, ServiceDefinition> = {
  traces: definition('trace.v1.TraceService'),
  logs: definition('logs.v1.LogsService'),
}

/** Lets calls in by their metadata, before their message is read. */
function gate(
  services: ReceiverServices,
  admitted: AdmittedCalls,
  open: Set<GrpcCall>,
): ServerInterceptor {
  return (_method, side) => {
    const call = new GrpcCall(services, side, open)
    const decide = (admission: Admission, metadata: Metadata, pass: (of: Metadata) => void) => {
      if (admission.fault) return call.refuse(admission.fault)
      call.key = admission.key
      admitted.set(metadata, call)
      pass(metadata)
    }
    const listener = {
      onReceiveMetadata: (metadata: Metadata, pass: (of: Metadata) => void) => {
        const admission = services.admit(credentialsOf(metadata))
        if (!(admission instanceof Promise)) decide(admission, metadata, pass)
        else admission.then((found) => decide(found, metadata, pass))
      },
    }
    return new ServerInterceptingCall(side, { start: (next) => next(listener) })
  }
}

function exporter(
  services: ReceiverServices,
  signal: OtlpSignal,
  admitted: AdmittedCalls,
): handleUnaryCall<Buffer, Buffer> {
  return ({ metadata, request: body }, answer) => {
    const call = admitted.get(metadata)
    if (call === undefined)
      return answer(statusOf(problemOf(new Error('a call came past the gate'))))
    exported({ services, call, signal }, body, metadata).then(
      ({ message, trailer }) => answer(null, message, trailer),
      (error: unknown) => call.refuse(problemOf(error)),
    )
  }
}

async function exported(
  { services, call, signal }: { services: ReceiverServices; call: GrpcCall; signal: OtlpSignal },
  body: Buffer,
  metadata: Metadata,
): Promise<{ message: Buffer; trailer: Metadata }> {
  const isPacked = call.received < body.length
  if (isPacked) call.held.take(body.length)
  services.meters.received('grpc', call.received, body.length)
  const baggage = textOf(metadata, 'baggage')
  const { rejected, message, ingest_request_id } = await services.take({
    signal,
    encoding: 'protobuf',
    body,
    project_id: call.key?.project_id ?? '',
    environment: '',
    release: '',
    received_at_ms: services.clock.now_ms(),
    ...(baggage !== undefined && { baggage }),
  })
  call.settle(rejected > 0 ? 'partial' : 'ok')
  const trailer = new Metadata()
  trailer.set('x-request-id', requestIdFrom(textOf(metadata, 'x-request-id')))
  if (ingest_request_id !== '') trailer.set('x-ingest-request-id', ingest_request_id)
  return {
    message: encodeExportResponse('protobuf', signal, { rejected, error_message: message }),
    trailer,
  }
}

function credentialsOf(metadata: Metadata): ExportCredentials {
  return {
    api_key: textOf(metadata, 'x-api-key'),
    authorization: textOf(metadata, 'authorization'),
  }
}

function textOf(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name)
  return typeof value === 'string' ? value : undefined
}

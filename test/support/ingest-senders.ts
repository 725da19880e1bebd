import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { Parcel } from './ingest-parcels.ts'
import { otlpMessage } from './otlp-messages.ts'

/**
 * The answer to one request. `taken`: 200 or 202. `refused`: may be sent again (429, 503,
 * UNAVAILABLE). `unknown`: no answer. `wrong`: an answer that no valid request may get.
 */
export type Told = {
  outcome: 'taken' | 'refused' | 'unknown' | 'wrong'
  /** Items that the answer reports as rejected. */
  rejected: number
  /** '' without an answer. */
  ingest_request_id: string
  /** Status and text of an answer other than `taken`. */
  detail: string
  /** Retry-After of a `refused` HTTP answer, or RetryInfo over gRPC. */
  may_retry_after: boolean
  at_ms: number
}

/** Addresses, read before each request because a restarted process may have another. */
export type IngestTargets = {
  otlp_url: () => string
  otlp_grpc_address: () => string
  api_url: () => string
  project_key: string
}

/** Sends a parcel once. Never rejects. */
export type SendParcel = (parcel: Parcel) => Promise<Told>

const answer_ms_max = 20_000
const unavailable = 14

/** Sends everything but gRPC over HTTP. */
export function httpSender(targets: IngestTargets): SendParcel {
  return async (parcel) => {
    const isBatch = parcel.way === 'api'
    const url = isBatch
      ? `${targets.api_url()}/api/v2/observability/ingest`
      : `${targets.otlp_url()}/v1/traces`
    const type = parcel.way === 'protobuf' ? 'application/x-protobuf' : 'application/json'
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': type, 'x-api-key': targets.project_key },
        body: Uint8Array.from(parcel.body),
        signal: AbortSignal.timeout(answer_ms_max),
      })
      const body = Buffer.from(await answer.arrayBuffer())
      return httpOutcome(parcel, answer, body)
    } catch (error) {
      return sendOutcome('unknown', { detail: String(error) })
    }
  }
}

function httpOutcome(parcel: Parcel, answer: Response, body: Buffer): Told {
  const { status, headers } = answer
  if (status === (parcel.way === 'api' ? 202 : 200)) {
    const ingest_request_id = headers.get('x-ingest-request-id') ?? ''
    return sendOutcome('taken', { ingest_request_id, rejected: rejectedIn(parcel, body) })
  }
  const detail = `${status} ${body.toString('latin1').slice(0, 300)}`
  const may_retry_after = headers.has('retry-after')
  return sendOutcome([429, 503].includes(status) ? 'refused' : 'wrong', { detail, may_retry_after })
}

function rejectedIn({ way }: Parcel, body: Buffer): number {
  if (way === 'api') return JSON.parse(body.toString()).result_payload.rejected
  if (way === 'json') return Number(JSON.parse(body.toString()).partialSuccess?.rejectedSpans ?? 0)
  const { partialSuccess } = otlpMessage('ExportTraceServiceResponse').decode(body).toJSON() as {
    partialSuccess?: { rejectedSpans?: string }
  }
  return Number(partialSuccess?.rejectedSpans ?? 0)
}

const traceService = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
const asIs = (bytes: Buffer) => bytes

/** Sends over gRPC, on one connection that reconnects by itself. `close` ends it. */
export function grpcSender(targets: IngestTargets): { send: SendParcel; close(): void } {
  const clients = new Map<string, Client>()
  const clientAt = (address: string) => {
    const known = clients.get(address)
    if (known) return known
    const client = new Client(address, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 500,
    })
    clients.set(address, client)
    return client
  }
  return {
    send: (parcel) => sendByGrpc(clientAt(targets.otlp_grpc_address()), parcel, targets),
    close: () => {
      for (const client of clients.values()) client.close()
    },
  }
}

function sendByGrpc(client: Client, parcel: Parcel, targets: IngestTargets): Promise<Told> {
  const metadata = new Metadata()
  metadata.set('x-api-key', targets.project_key)
  const options = { deadline: Date.now() + answer_ms_max }
  return new Promise((resolve) => {
    let answer: { error: { code: number; details: string } | null; body: Buffer | undefined }
    const call = client.makeUnaryRequest(
      ...([traceService, asIs, asIs, parcel.body, metadata, options] as const),
      (error, body) => {
        answer = { error, body }
      },
    )
    call.on('status', ({ metadata: trailer }) => {
      queueMicrotask(() => resolve(grpcOutcome(parcel, answer, trailer)))
    })
  })
}

/** UNAVAILABLE may be an answer or a missing one: only the edge's own answer has RetryInfo. */
function grpcOutcome(
  parcel: Parcel,
  { error, body }: { error: { code: number; details: string } | null; body: Buffer | undefined },
  trailer: Metadata,
): Told {
  if (error === null) {
    const [id = ''] = trailer.get('x-ingest-request-id')
    const rejected = rejectedIn(parcel, body ?? Buffer.alloc(0))
    return sendOutcome('taken', { ingest_request_id: String(id), rejected })
  }
  const detail = `${error.code} ${error.details}`
  const may_retry_after = trailer.get('grpc-status-details-bin').length > 0
  if (error.code === unavailable && may_retry_after) {
    return sendOutcome('refused', { detail, may_retry_after })
  }
  return sendOutcome(lost.has(error.code) ? 'unknown' : 'wrong', { detail })
}

/**
 * CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE: grpc-js's codes for a broken
 * connection.
 */
const lost = new Set([1, 2, 4, 13, unavailable])

function sendOutcome(outcome: Told['outcome'], about: Partial<Told>): Told {
  const nothing = { rejected: 0, ingest_request_id: '', detail: '', may_retry_after: false }
  return { outcome, ...nothing, ...about, at_ms: Date.now() }
}

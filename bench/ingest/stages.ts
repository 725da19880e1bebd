import { gunzipSync, gzipSync } from 'node:zlib'
import { createEnqueuer, type Enqueuer } from '../../src/capabilities/edge/enqueue/index.ts'
import {
  createMapper,
  currentContract,
  jsonDecoder,
  type OtlpMapper,
  protobufDecoder,
} from '../../src/capabilities/edge/otlp/index.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { otlpJson, otlpMessage, tracesProtobuf } from '../../test/support/otlp-messages.ts'
import { exportRequest, type SpanShape } from './spans.ts'

/** A measured step: one call processes `spans` spans. */
export type Stage = { name: string; spans: number; run: () => unknown }

/** Spans of one request: the default maximum of the SDKs' batch processors. */
export const requestSpans = 512
const requests = 8
const project_id = '0198c0de-0000-7000-8000-00000000000a'

/** The bodies of several requests of one shape. */
export function bodiesOf(shape: SpanShape): { protobuf: Buffer[]; json: Buffer[]; gzip: Buffer[] } {
  const made = Array.from({ length: requests }, (_, at) =>
    exportRequest(shape, { spans: requestSpans, seed: at + 1 }),
  )
  const protobuf = made.map(tracesProtobuf)
  return { protobuf, json: made.map(otlpJson), gzip: protobuf.map((body) => gzipSync(body)) }
}

/**
 * The steps of the edge for spans of one shape, in this process; the first one is the floor:
 * `JSON.parse` of the same spans.
 */
export function stagesOf(shape: SpanShape): Stage[] {
  const { protobuf, json, gzip } = bodiesOf(shape)
  const decoders = { protobuf: protobufDecoder(), json: jsonDecoder() }
  const map = mapping()
  const enqueuer = framing()
  const message = otlpMessage('ExportTraceServiceRequest')
  const stage = (name: string, bodies: Buffer[], take: (body: Buffer) => unknown): Stage => {
    let at = 0
    return {
      name,
      spans: requestSpans,
      run: () => take(bodies[at++ % bodies.length] ?? Buffer.alloc(0)),
    }
  }
  return [
    stage('JSON.parse', json, (body) => JSON.parse(body.toString())),
    stage('protobufjs', protobuf, (body) => message.decode(body)),
    stage('protobuf: decode', protobuf, (body) => decoders.protobuf.traces(body)),
    stage('protobuf: decode, map', protobuf, (body) => map(decoders.protobuf.traces(body))),
    stage('protobuf: decode, map, frame', protobuf, (body) =>
      frame(enqueuer, map(decoders.protobuf.traces(body))),
    ),
    stage('JSON: decode', json, (body) => decoders.json.traces(body)),
    stage('JSON: decode, map', json, (body) => map(decoders.json.traces(body))),
    stage('JSON: decode, map, frame', json, (body) =>
      frame(enqueuer, map(decoders.json.traces(body))),
    ),
    stage('gzip: unpack', gzip, (body) => gunzipSync(body)),
  ]
}

type Decoded = Parameters<OtlpMapper['traces']>[0]
type Records = ReturnType<OtlpMapper['traces']>['records']

function mapping(): (decoded: Decoded) => Records {
  const pricing = createPricing()
  const mapper = createMapper({ contract: currentContract, pricing })
  const about = { project_id, environment: '', release: '' }
  return (decoded) =>
    mapper.traces(decoded, { ...about, received_at_ms: systemClock.now_ms() }).records
}

/** Discards frames. */
function framing(): Enqueuer {
  return createEnqueuer({
    publish: async () => undefined,
    message_bytes_max: 1024 * 1024,
    inflight_bytes_max: 64 * 1024 * 1024,
    clock: systemClock,
    newId,
    metrics: createMetrics(),
    logger: createLogger({ role: 'bench', level: 'fatal' }),
    onAccepted: () => undefined,
  })
}

function frame(enqueuer: Enqueuer, records: Records): Promise<number> {
  return enqueuer.enqueue({
    project_id,
    path: 'otlp',
    ingest_request_id: newId(),
    received_at_ms: systemClock.now_ms(),
    items: records.observations.length,
    rejected: {},
    masked: 0,
    records,
  })
}

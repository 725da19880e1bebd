import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import type { IngestRecords } from '../../../../model/ingest-records.ts'
import type { Logger, Metrics } from '../../../../platform/telemetry/index.ts'
import type { KeyCache } from '../../../access/index.ts'
import type { Enqueuer } from '../../enqueue/index.ts'
import type { OtlpDecoder } from '../contract.ts'
import type { OtlpEncoding, OtlpSignal } from '../decode/answers.ts'
import type { OtlpMapper } from '../mapping/mapper-contract.ts'

export type OtlpTransport = 'http' | 'grpc'

/** The bounds of the receiver; each is a setting of the role. */
export type OtlpSettings = {
  /** A longer request is refused, and one that is longer once it is unpacked. */
  body_bytes_max: number
  /** Bytes of requests held at one time, packed and unpacked; above, requests are refused. */
  inflight_bytes_max: number
  /** The longest silence of a client in the middle of a request. */
  body_idle_timeout_ms: number
  /** Export requests of one key a minute; 0 sets no limit. */
  requests_per_minute: number
}

/**
 * What a project lets in of the records that its clients export. `item_kinds` are the records
 * that the client sent as items: `rejected` counts those that the project's policy keeps out, by reason,
 * and `masked` those that had content taken out. It never throws or rejects.
 */
export type CaptureRecords = (
  records: IngestRecords,
  project_id: string,
  item_kinds: readonly (keyof IngestRecords)[],
) => CapturedRecords | Promise<CapturedRecords>

type CapturedRecords = {
  records: IngestRecords
  rejected: Readonly<Record<string, number>>
  masked: number
}

export type OtlpDependencies = {
  keys: Pick<KeyCache, 'authenticate'>
  enqueuer: Pick<Enqueuer, 'enqueue'>
  decoders: Readonly<Record<OtlpEncoding, OtlpDecoder>>
  mapper: OtlpMapper
  /** Everything passes when there is none. */
  capture?: CaptureRecords
  settings: OtlpSettings
  clock: Clock
  metrics: Metrics
  logger: Logger
}

/** Takes exports over both transports into the queue. */
export type OtlpReceiver = {
  /** Answers one HTTP request to the path of the signal, whatever its method. */
  handle(request: IncomingMessage, response: ServerResponse, signal: OtlpSignal): void
  /** Answers a request with metrics, which are not taken. */
  refuseMetrics(request: IncomingMessage, response: ServerResponse): void
  /** Answers a request beside the paths of signals with an error. */
  refuse(request: IncomingMessage, response: ServerResponse, fault: Problem): void
  /** Listens for exports over gRPC. */
  listenGrpc(options: OtlpGrpcOptions): Promise<OtlpGrpcServer>
  /** From now on requests are refused with `shutting_down`; resolves when none is in flight. */
  drain(): Promise<void>
}

export type OtlpGrpcOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Calls at one time on one connection. */
  streams_max: number
  /** Connections are asked for a sign of life so often. */
  keepalive_ms: number
}

export type OtlpGrpcServer = {
  port: number
  /** Lets the calls in flight end, for at most `grace_ms`, then closes every connection. */
  close(grace_ms: number): Promise<void>
}

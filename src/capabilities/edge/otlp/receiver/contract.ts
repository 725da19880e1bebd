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
import type { LangfuseAsked } from './langfuse-answers.ts'

export type OtlpTransport = 'http' | 'grpc'

/** The limits of the receiver; each is a setting of the role. */
export type OtlpSettings = {
  /** Maximum bytes of a request, compressed and decompressed. */
  body_bytes_max: number
  /**
   * Maximum bytes of all requests held, compressed and decompressed; beyond it requests are
   * refused.
   */
  inflight_bytes_max: number
  /** Longest silence of a client within a request. */
  body_idle_timeout_ms: number
  /** Export requests per minute and key; 0 means no limit. */
  requests_per_minute: number
}

/**
 * Applies a project's capture policy to exported records. `item_kinds` are the kinds that the
 * client sent as items. `rejected` counts items that the policy leaves out, by reason; `masked`
 * counts items with masked or dropped content. Never throws or rejects.
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
  /** Without it all records pass. */
  capture?: CaptureRecords
  settings: OtlpSettings
  clock: Clock
  metrics: Metrics
  logger: Logger
}

/** Receives exports over both transports. */
export type OtlpReceiver = {
  /**
   * Answers one HTTP request to the path of a signal, with any method. `authorised` is called when
   * the key is valid.
   */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    call: { signal: OtlpSignal; authorised?: () => void },
  ): void
  /** Answers one call of Langfuse's API that is not an export, with any method. */
  handleLangfuse(request: IncomingMessage, response: ServerResponse, asked: LangfuseAsked): void
  /** Answers a request outside the paths of signals with an error. */
  refuse(request: IncomingMessage, response: ServerResponse, fault: Problem): void
  /** Listens for exports over gRPC. */
  listenGrpc(options: OtlpGrpcOptions): Promise<OtlpGrpcServer>
  /** Refuses new requests with `shutting_down`; resolves when none is in flight. */
  drain(): Promise<void>
}

export type OtlpGrpcOptions = {
  host: string
  /** 0 selects a free port. */
  port: number
  /** Maximum concurrent calls on one connection. */
  streams_max: number
  /** Interval between keep-alive pings on a connection. */
  keepalive_ms: number
}

export type OtlpGrpcServer = {
  port: number
  /** Waits up to `grace_ms` for the calls in flight, then closes every connection. */
  close(grace_ms: number): Promise<void>
}

import type { KeyCache } from '../capabilities/access/index.ts'
import {
  createMapper,
  createOtlpReceiver,
  currentContract,
  jsonDecoder,
  type OtlpGrpcServer,
  type OtlpReceiver,
  protobufDecoder,
} from '../capabilities/observability/otlp/index.ts'
import { createPricing, priceVersion } from '../capabilities/observability/pricing/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import type { Intake } from './intake.ts'
import type { RoleContext } from './running.ts'

type OtlpConfig = Pick<
  RoleConfig<'proxy'>,
  | 'otlp_grpc_host'
  | 'otlp_grpc_port'
  | 'otlp_grpc_streams_max'
  | 'otlp_grpc_keepalive_ms'
  | 'otlp_body_bytes_max'
  | 'otlp_inflight_bytes_max'
  | 'otlp_body_idle_timeout_ms'
  | 'otlp_requests_per_minute_max'
>

/** What a role serves OTLP with; `grpc` is absent where it is switched off. */
export type OtlpService = { receiver: OtlpReceiver; grpc: OtlpGrpcServer | undefined }

/** Builds the OTLP receiver and listens for gRPC; whoever listens for HTTP drains both. */
export async function openOtlp(
  { metrics, clock, logger, parts }: RoleContext,
  config: OtlpConfig,
  { keys, intake }: { keys: KeyCache; intake: Intake },
): Promise<OtlpService> {
  const receiver = createOtlpReceiver({
    keys,
    enqueuer: intake.enqueuer,
    decoders: { protobuf: protobufDecoder(), json: jsonDecoder() },
    mapper: createMapper({
      contract: currentContract,
      pricing: createPricing(),
      price_version: priceVersion,
    }),
    capture: (...records) => intake.capture(...records),
    settings: {
      body_bytes_max: config.otlp_body_bytes_max,
      inflight_bytes_max: config.otlp_inflight_bytes_max,
      body_idle_timeout_ms: config.otlp_body_idle_timeout_ms,
      requests_per_minute: config.otlp_requests_per_minute_max,
    },
    clock,
    metrics,
    logger,
  })
  if (config.otlp_grpc_port === undefined) return { receiver, grpc: undefined }
  const grpc = await receiver.listenGrpc({
    host: config.otlp_grpc_host,
    port: config.otlp_grpc_port,
    streams_max: config.otlp_grpc_streams_max,
    keepalive_ms: config.otlp_grpc_keepalive_ms,
  })
  // Also when what is started after it fails; closing it twice does no harm.
  parts.defer(() => grpc.close(0))
  logger.info(
    { otlp_grpc_host: config.otlp_grpc_host, otlp_grpc_port: grpc.port },
    'listening for OTLP over gRPC',
  )
  return { receiver, grpc }
}

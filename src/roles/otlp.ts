import {
  createOtlpReceiver,
  type OtlpDependencies,
  type OtlpGrpcServer,
  type OtlpReceiver,
} from '../capabilities/observability/otlp/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
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

type OtlpParts = Pick<OtlpDependencies, 'keys' | 'enqueuer' | 'decoders' | 'mapper' | 'capture'>

/** What a role serves OTLP with; `grpc` is absent where it is switched off. */
export type OtlpService = { receiver: OtlpReceiver; grpc: OtlpGrpcServer | undefined }

/** Builds the OTLP receiver and listens for gRPC; whoever listens for HTTP drains both. */
export async function openOtlp(
  { metrics, clock, logger, parts }: RoleContext,
  config: OtlpConfig,
  built: OtlpParts,
): Promise<OtlpService> {
  const receiver = createOtlpReceiver({
    ...built,
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

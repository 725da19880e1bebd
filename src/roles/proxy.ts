import { type KeyCache, openKeys } from '../capabilities/access/index.ts'
import type { Enqueuer } from '../capabilities/edge/enqueue/index.ts'
import {
  createMapper,
  createOtlpReceiver,
  currentContract,
  jsonDecoder,
  type OtlpGrpcServer,
  type OtlpReceiver,
  otlpRoutes,
  protobufDecoder,
} from '../capabilities/edge/otlp/index.ts'
import {
  type CompletionProxy,
  createCaptureRecorder,
  createProxy,
  createRecorder,
  defaultProxySettings,
  frameLimits,
  openProvidersFile,
  type ProjectKeys,
  type ProvidersFile,
  ProvidersFileRefused,
  providersFileGauge,
  proxyRoutes,
  type Recorder,
} from '../capabilities/edge/proxy/index.ts'
import { createPricing } from '../capabilities/records/pricing/index.ts'
import { newId } from '../kernel/ids.ts'
import { ConfigError, type RoleConfig, type Settings } from '../platform/config/index.ts'
import { AddressUnavailable } from '../platform/http/index.ts'
import type { Journal } from '../platform/journal/index.ts'
import { type Outbound, portsOf } from '../platform/outbound/index.ts'
import type { Queue } from '../platform/queue/index.ts'
import type { Logger } from '../platform/telemetry/index.ts'
import { type Intake, openIntake } from './intake.ts'
import { listen, type OtlpService } from './listen.ts'
import { openReceivers } from './outbound.ts'
import { openPostgres } from './postgres.ts'
import { openCallJournal, openClusterQueue, withFileSpool } from './queues.ts'
import { type RoleContext, type Running, run } from './running.ts'

/** Starts role `proxy`, the data plane. It serves completions even while every store is down. */
export function startProxy(config: RoleConfig<'proxy'>, stop: AbortSignal): Promise<Running> {
  return run('proxy', config, stop, async (context) => {
    const { clock, parts, checks } = context
    const relational = openPostgres(context, config)
    const { keys, close } = openKeys({
      db: relational.db,
      clock,
      limits: { ttl_ms: config.proxy_key_cache_ttl_ms },
    })
    parts.defer(close)
    const queue = await withFileSpool(context, config, {
      queue: await openClusterQueue(context, config),
      db: relational.db,
      role: 'proxy',
    })
    const intake = openIntake(context, config, { queue, db: relational.db })
    const journal = await openCallJournal(context, config, 'proxy')
    const recorder = openRecorder(context, config, { queue, intake, journal })
    const proxy = openProxy(context, config, { keys, recorder })
    checks.push({ name: 'queue', check: async () => ((await queue.ready()) ? null : 'full') })
    const otlp = await openOtlp(context, config, { keys, intake })
    const routes = [...proxyRoutes(proxy), ...otlpRoutes(otlp.receiver)]
    await listen(context, config, { routes, proxy, otlp })
  })
}

type RecorderParts = {
  queue: Pick<Queue, 'publish' | 'message_bytes_max'>
  intake: Intake
  journal: Journal
}

/**
 * Opens the recorder, which packs records into queue messages, or passes them to the intake if the
 * capture policy of the project omits something. Flushed when the role ends, before the intake.
 */
export function openRecorder(
  { metrics, clock, logger, parts }: RoleContext,
  config: RoleConfig<'proxy'>,
  { queue, intake, journal }: RecorderParts,
): Recorder {
  const recorder = createRecorder({
    journal,
    publish: (message) => queue.publish(message),
    ...frameLimits,
    get message_bytes_max() {
      return queue.message_bytes_max
    },
    inflight_bytes_max: config.record_inflight_bytes_max,
    clock,
    newId,
    metrics,
    logger,
    onAccepted: (entries) => intake.reporter.accepted(entries),
    capture: createCaptureRecorder({ ...intake, cost_source: config.cost_source }),
  })
  parts.defer(() => recorder.close())
  return recorder
}

/** Creates the proxy. `listen` drains and closes it. */
export function openProxy(
  context: Pick<RoleContext, 'metrics' | 'clock' | 'logger' | 'parts' | 'checks'>,
  config: RoleConfig<'proxy'>,
  { keys, recorder }: { keys: ProjectKeys; recorder: Recorder },
): CompletionProxy {
  const { metrics, clock, logger } = context
  const outbound = openReceivers(config)
  return createProxy({
    keys,
    recorder,
    outbound,
    providers_file: openProviders(context, config, outbound),
    base_urls: {
      openai: config.openai_base_url,
      anthropic: config.anthropic_base_url,
      gemini: config.gemini_base_url,
      ...(config.scripted_base_url !== undefined && { scripted: config.scripted_base_url }),
    },
    settings: {
      ...defaultProxySettings,
      body_bytes_max: config.proxy_body_bytes_max,
      idle_timeout_ms: config.proxy_idle_timeout_ms,
      requests_per_minute: config.proxy_requests_per_minute_max,
    },
    clock,
    metrics,
    logger,
  })
}

/**
 * Opens the providers file of the settings; undefined without one. A later fault of the file shows in
 * readiness and keeps the process ready. Throws ConfigError for a file that is not valid.
 */
function openProviders(
  { metrics, logger, parts, checks }: Pick<RoleContext, 'metrics' | 'logger' | 'parts' | 'checks'>,
  { providers_file: path, providers_reload_ms: reload_ms }: RoleConfig<'proxy'>,
  outbound: Outbound,
): ProvidersFile | undefined {
  let file: ProvidersFile | undefined
  providersFileGauge(metrics, () => file?.fault() ?? null)
  if (path === undefined) return undefined
  try {
    const refusal = (url: string) => outbound.refusal(url, portsOf(url))?.message
    const opened = openProvidersFile({ path, reload_ms, refusal, logger })
    file = opened
    parts.defer(() => opened.close())
    checks.push({ name: 'providers_file', check: async () => opened.fault(), is_advisory: true })
    return opened
  } catch (error) {
    if (!(error instanceof ProvidersFileRefused)) throw error
    throw new ConfigError(`LOOPTRACE_PROVIDERS_FILE: ${error.message}`)
  }
}

/** Further calls of a connection wait in the client. A connection without an answer to a ping is closed. */
const grpcLimits = { streams_max: 128, keepalive_ms: 60_000 }

type OtlpParts = {
  keys: Pick<KeyCache, 'authenticate'>
  intake: Pick<Intake, 'capture'> & { enqueuer: Pick<Enqueuer, 'enqueue'> }
  /** Whether to start without gRPC when its port is in use, instead of failing. */
  grpc_is_optional?: boolean
}

/** Opens the OTLP receiver and listens for gRPC. `listen` drains both. */
export async function openOtlp(
  context: Pick<RoleContext, 'metrics' | 'clock' | 'logger' | 'parts' | 'ports'>,
  config: Settings<'otlp' | 'cost'>,
  { keys, intake, grpc_is_optional = false }: OtlpParts,
): Promise<OtlpService> {
  const { metrics, clock, logger, parts, ports } = context
  const receiver = createOtlpReceiver({
    keys,
    enqueuer: intake.enqueuer,
    decoders: { protobuf: protobufDecoder(), json: jsonDecoder() },
    mapper: createMapper({ contract: currentContract, pricing: createPricing(config.cost_source) }),
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
  const grpc = await listenGrpc(receiver, config, { logger, grpc_is_optional })
  if (grpc === undefined) return { receiver, grpc }
  // For failures of later steps. Closing twice is harmless.
  parts.defer(() => grpc.close(0))
  ports['otlp_grpc_port'] = grpc.port
  return { receiver, grpc }
}

/** Listens for gRPC. Returns undefined when it is disabled, or optional and its port is in use. */
async function listenGrpc(
  receiver: OtlpReceiver,
  config: Settings<'otlp' | 'cost'>,
  { logger, grpc_is_optional }: { logger: Logger; grpc_is_optional: boolean },
): Promise<OtlpGrpcServer | undefined> {
  if (config.otlp_grpc_port === undefined) return undefined
  try {
    return await receiver.listenGrpc({
      host: config.otlp_grpc_host,
      port: config.otlp_grpc_port,
      ...grpcLimits,
    })
  } catch (cause) {
    if (!(cause instanceof AddressUnavailable)) throw cause
    const asked = `${cause.message}: set LOOPTRACE_OTLP_GRPC_PORT to another port, or to off`
    if (!grpc_is_optional) throw new AddressUnavailable(asked, { cause })
    logger.warn({ err: cause }, `OTLP over gRPC is disabled: ${asked}. OTLP over HTTP still works`)
    return undefined
  }
}

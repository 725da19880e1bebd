import type { OtlpGrpcServer, OtlpReceiver } from '../capabilities/edge/otlp/index.ts'
import type { CompletionProxy } from '../capabilities/edge/proxy/index.ts'
import type { EventHub } from '../capabilities/events/index.ts'
import { problem } from '../kernel/problem.ts'
import { sleep } from '../kernel/time.ts'
import { type Settings, version } from '../platform/config/index.ts'
import {
  createHttpServer,
  frontPageRoute,
  type HttpServerOptions,
  type IdempotencyStore,
  openapiRoute,
  type RawRoute,
  type Route,
} from '../platform/http/index.ts'
import { nameSetting, type RoleContext } from './running.ts'

type ListenConfig = Settings<'process' | 'http'> & {
  /** Unknown to role `proxy`. */
  public_url?: string | undefined
}

/** Baggage alone can take 8 KiB. Load balancers close idle connections after 60 s, before the server. */
export const connectionLimits = {
  /** Of a product API call; completions and ingest have limits of their own. */
  body_bytes_max: 1024 * 1024,
  header_bytes_max: 32 * 1024,
  request_timeout_ms: 5 * 60_000,
  keep_alive_ms: 75_000,
}

/** The operator checks up to 10,000 resources a minute. */
const operator_rate_per_minute_max = 60_000

/** The OTLP receiver of a role. `grpc` is undefined when it is disabled. */
export type OtlpService = { receiver: OtlpReceiver; grpc: OtlpGrpcServer | undefined }

type Served = Partial<Pick<HttpServerOptions, 'authorize' | 'idempotency' | 'audit'>> & {
  routes: readonly (Route | RawRoute)[]
  /** The page of the console, which browsers get at `/`. */
  console?: string
  /** Its streams may use the grace period to end. */
  proxy?: CompletionProxy
  /** Its requests end before the queue closes. */
  otlp?: OtlpService
  /** Its streams end before the server waits for its requests. */
  events?: Pick<EventHub, 'close'>
}

/** Serves the routes, with their `/` and `/openapi.json`. Resolves with the port. */
export async function listen(
  context: RoleContext,
  config: ListenConfig,
  { routes, proxy, otlp, events, console, ...served }: Served,
): Promise<number> {
  const { logger, metrics, clock, parts, ports } = context
  const all: (Route | RawRoute)[] = [...routes]
  all.push(
    openapiRoute(() => all, version),
    frontPageRoute(() => all, version, console),
  )
  const server = await createHttpServer({
    authorize: rejectAll,
    idempotency: noIdempotency,
    ...served,
    ...(proxy !== undefined && { onClientError: proxy.onClientError.bind(proxy) }),
    routes: all,
    logger,
    metrics,
    clock,
    ...connectionLimits,
    rate_per_minute_max: config.http_rate_per_minute_max,
    operator_rate_per_minute_max,
    anonymous_rate_per_minute_max: config.http_anonymous_rate_per_minute_max,
    audit_refusals_per_minute_max: config.audit_refusals_per_minute_max,
    trusted_proxies: config.http_trusted_proxies,
    allowed_origins: config.http_cors_origins,
    public_address: { public_url: config.public_url, hsts_max_age_s: config.http_hsts_max_age_s },
  })
  const port = await server
    .listen({ host: config.http_host, port: config.http_port })
    .catch(nameSetting('LOOPTRACE_HTTP'))
  parts.defer(async () => {
    const closed = Promise.all([
      proxy?.drain(),
      events?.close(),
      otlp?.receiver.drain(),
      otlp?.grpc?.close(config.grace_period_ms),
      server.close(),
    ])
    await Promise.race([closed, sleep(config.grace_period_ms)])
    await proxy?.close()
    await closed
  })
  logger.debug({ http_host: config.http_host, http_port: port }, 'listening')
  ports['http_port'] = port
  return port
}

/**
 * Rejects every caller, for roles without product APIs. The proxy's routes check keys themselves.
 */
const rejectAll: HttpServerOptions['authorize'] = async () => {
  throw problem('credentials_invalid')
}

const noIdempotency: IdempotencyStore = {
  claim: async () => ({ state: 'new' }),
  keep: async () => undefined,
  release: async () => undefined,
}

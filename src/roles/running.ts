import { type Clock, sleep, systemClock } from '../kernel/time.ts'
import type { Role, RoleConfig } from '../platform/config/index.ts'
import { createManagementServer, type HealthCheck } from '../platform/http/index.ts'
import {
  createLogger,
  createMetrics,
  type Logger,
  type Metrics,
  startTracing,
} from '../platform/telemetry/index.ts'

/** A role that runs. */
export type Running = {
  /** Ends it cleanly: not ready, drain, close, flush, in that order. */
  stop(): Promise<void>
  /** Resolves when the role can't go on, with the reason. */
  failed: Promise<Error>
}

/**
 * What a role is built with. `parts` closes what the role opened, last opened first; `checks`
 * decide whether it is ready.
 */
export type RoleContext = {
  logger: Logger
  metrics: Metrics
  clock: Clock
  parts: AsyncDisposableStack
  checks: HealthCheck[]
  /** What is done once the role says that it is ready. */
  whenReady: (() => Promise<void>)[]
  /** Ends the role: a part that it can't do without is gone for good. */
  fail: (error: Error) => void
}

type ProcessConfig = Pick<
  RoleConfig<Role>,
  'log_level' | 'otlp_traces_url' | 'management_host' | 'management_port' | 'drain_delay_ms'
>

/**
 * Runs a role's own function with logs, metrics and traces around it. When it throws, what it had
 * opened is closed before the error goes on.
 */
export async function run(
  role: string,
  config: ProcessConfig,
  start: (context: RoleContext) => Promise<void>,
): Promise<Running> {
  const logger = createLogger({ role, level: config.log_level })
  const metrics = createMetrics()
  await using parts = new AsyncDisposableStack()
  const tracing = await startTracing({ url: config.otlp_traces_url, role })
  parts.defer(() => tracing.close())
  const checks: HealthCheck[] = []
  const failed = Promise.withResolvers<Error>()
  const fail = failed.resolve
  const whenReady: RoleContext['whenReady'] = []
  await start({ logger, metrics, clock: systemClock, parts, checks, whenReady, fail })
  const management = await createManagementServer({
    host: config.management_host,
    port: config.management_port,
    checks,
    metrics,
    logger,
  })
  parts.defer(() => management.close())
  parts.defer(async () => {
    management.stopping()
    await sleep(config.drain_delay_ms)
  })
  logger.info({ management_port: management.port }, 'ready')
  for (const work of whenReady) await work()
  const running = parts.move()
  return { stop: () => running.disposeAsync(), failed: failed.promise }
}

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

/** A role that runs. `stop` ends it cleanly: not ready, drain, close, flush, in that order. */
export type Running = { stop(): Promise<void> }

/**
 * What a role is built with. `parts` closes what the role opened, last opened first; `checks`
 * decide whether it is ready.
 */
export type Process = {
  logger: Logger
  metrics: Metrics
  clock: Clock
  parts: AsyncDisposableStack
  checks: HealthCheck[]
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
  start: (process: Process) => Promise<void>,
): Promise<Running> {
  const logger = createLogger({ role, level: config.log_level })
  const metrics = createMetrics()
  await using parts = new AsyncDisposableStack()
  const tracing = startTracing({ url: config.otlp_traces_url, role })
  parts.defer(() => tracing.close())
  const checks: HealthCheck[] = []
  await start({ logger, metrics, clock: systemClock, parts, checks })
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
  const running = parts.move()
  return { stop: () => running.disposeAsync() }
}

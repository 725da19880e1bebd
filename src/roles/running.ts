import { type Clock, sleep, systemClock } from '../kernel/time.ts'
import type { Settings } from '../platform/config/index.ts'
import {
  AddressUnavailable,
  assertAddressFree,
  createManagementServer,
  type HealthCheck,
} from '../platform/http/index.ts'
import {
  createLogger,
  createMetrics,
  type Logger,
  type Metrics,
  startTracing,
} from '../platform/telemetry/index.ts'
import { runInInstallation } from '../platform/tenancy/index.ts'

/** A running role. */
export type Running = {
  /** Stops the role cleanly: not ready, drain, close, flush, in that order. */
  stop(): Promise<void>
  /** Resolves with the reason when the role cannot continue. */
  failed: Promise<Error>
}

/**
 * The context of a role. `parts` closes what the role opened, in reverse order. `checks` decide
 * whether it is ready.
 */
export type RoleContext = {
  logger: Logger
  metrics: Metrics
  clock: Clock
  parts: AsyncDisposableStack
  checks: HealthCheck[]
  /** Called after the role has logged that it is ready. */
  whenReady: (() => void)[]
  /** Aborts when the role must stop, also during its start. */
  stop: AbortSignal
  /** Ports of the role by name, as logged in its line `ready`. */
  ports: Record<string, number>
  /** Stops the role after the permanent failure of an essential part. */
  fail: (error: Error) => void
}

/** The role was stopped during its start. */
export class StartStopped extends Error {
  override readonly name = 'StartStopped'
}

/**
 * Starts a role with logs, metrics and traces. When the start fails, closes what it opened and
 * rethrows the error. Throws StartStopped when `stop` aborts during the start.
 */
export async function run(
  role: string,
  config: Settings<'process'>,
  stop: AbortSignal,
  start: (context: RoleContext) => Promise<void>,
): Promise<Running> {
  const logger = createLogger({ role, level: config.log_level, format: config.log_format })
  const metrics = createMetrics()
  await using parts = new AsyncDisposableStack()
  const tracing = await startTracing({ url: config.otlp_traces_url, role })
  parts.defer(() => tracing.close())
  const failed = Promise.withResolvers<Error>()
  const context: RoleContext = {
    logger,
    metrics,
    clock: systemClock,
    parts,
    stop,
    checks: [],
    whenReady: [],
    ports: {},
    fail: failed.resolve,
  }
  const starting = start(context).then(() => serveManagement(context, config))
  await untilStarted(starting, context)
  logger.info(context.ports, 'ready')
  for (const work of context.whenReady) work()
  const running = parts.move()
  const close = () => running.disposeAsync()
  return {
    stop: () => runInInstallation('the last writes of all projects', close),
    failed: failed.promise,
  }
}

async function serveManagement(context: RoleContext, config: Settings<'process'>): Promise<void> {
  const { management_host: host, management_port } = config
  const management = await createManagementServer({
    host,
    port: management_port,
    ...context,
  }).catch(nameSetting('LOOPTRACE_MANAGEMENT'))
  context.parts.defer(() => management.close())
  context.parts.defer(async () => {
    management.stopping()
    await sleep(config.drain_delay_ms)
  })
  context.ports['management_port'] = management.port
}

/** Time for an interrupted start to end. */
const settle_ms_max = 2_000
/** Time for its parts to close after that. The exit of the process closes the others. */
const close_ms_max = 5_000

/**
 * Waits for a start, or interrupts it when the role is stopped. Nothing is lost by an interruption,
 * because every start recovers from a kill of the previous one at any point.
 */
async function untilStarted(
  starting: Promise<void>,
  { stop, parts, logger }: RoleContext,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve()
    stop.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.race([stopped, starting]).catch((error: unknown) => {
    if (!stop.aborted) throw error
  })
  if (!stop.aborted) return
  logger.info('stopping before the start is complete')
  await Promise.race([starting.catch(() => undefined), sleep(settle_ms_max)])
  await Promise.race([parts.disposeAsync(), sleep(close_ms_max)]).catch((error: unknown) => {
    logger.warn({ err: error }, 'closing the parts of an interrupted start failed')
  })
  throw new StartStopped('the role was stopped while it started')
}

/** Creates the context of a command that runs once and serves nothing. */
export function oneShotContext(
  role: string,
  { log_level: level, log_format: format }: Settings<'process'>,
  parts: AsyncDisposableStack,
): RoleContext {
  return {
    logger: createLogger({ role, level, format }),
    metrics: createMetrics(),
    clock: systemClock,
    parts,
    checks: [],
    whenReady: [],
    stop: new AbortController().signal,
    ports: {},
    fail: () => undefined,
  }
}

/** Prints a JSON object as one line, for scripts. */
export function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Prefix of the settings `<prefix>_HOST` and `<prefix>_PORT`. */
type AddressSettings = 'LOOPTRACE_HTTP' | 'LOOPTRACE_MANAGEMENT'

/**
 * Returns a handler that adds the setting to change to a failure to listen. Rethrows other errors.
 */
export function nameSetting(prefix: AddressSettings): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof AddressUnavailable)) throw error
    const { code } = error.cause as NodeJS.ErrnoException
    const advice =
      code === 'EADDRNOTAVAIL'
        ? `Set ${prefix}_HOST to an address of this machine`
        : `Set ${prefix}_PORT to another port${code === 'EADDRINUSE' ? ', or stop that process' : ''}`
    throw new AddressUnavailable(`${error.message}. ${advice}.`, { cause: error })
  }
}

/** Throws AddressUnavailable when the role cannot listen. For use before servers are started. */
export async function assertAddressesFree(config: Settings<'process' | 'http'>): Promise<void> {
  const { http_host, http_port, management_host, management_port } = config
  await assertAddressFree(http_host, http_port).catch(nameSetting('LOOPTRACE_HTTP'))
  await assertAddressFree(management_host, management_port).catch(
    nameSetting('LOOPTRACE_MANAGEMENT'),
  )
}

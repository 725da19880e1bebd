import { type Clock, sleep, systemClock } from '../kernel/time.ts'
import type { Role, RoleConfig } from '../platform/config/index.ts'
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
  /** Called once the role has said that it is ready. */
  whenReady: (() => void)[]
  /** Aborts when the role is to end, also while it starts. */
  stop: AbortSignal
  /** Ports that the role listens on, by the names that its line `ready` gives them. */
  ports: Record<string, number>
  /** Ends the role: a part that it can't do without is gone for good. */
  fail: (error: Error) => void
}

type ProcessConfig = Pick<
  RoleConfig<Role>,
  | 'log_level'
  | 'log_format'
  | 'otlp_traces_url'
  | 'management_host'
  | 'management_port'
  | 'drain_delay_ms'
>

/** The role was stopped before it had started. */
export class StartStopped extends Error {
  override readonly name = 'StartStopped'
}

/**
 * Runs a role's own function with logs, metrics and traces around it. When it throws, what it had
 * opened is closed before the error goes on. Throws StartStopped when `stop` aborts meanwhile.
 */
export async function run(
  role: string,
  config: ProcessConfig,
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
    ...{ logger, metrics, clock: systemClock, parts, stop },
    ...{ checks: [], whenReady: [], ports: {}, fail: failed.resolve },
  }
  const starting = start(context).then(() => serveManagement(context, config))
  await untilStarted(starting, context)
  logger.info(context.ports, 'ready')
  for (const work of context.whenReady) work()
  const running = parts.move()
  return { stop: () => running.disposeAsync(), failed: failed.promise }
}

async function serveManagement(context: RoleContext, config: ProcessConfig): Promise<void> {
  const { management_host: host, management_port } = config
  const management = await createManagementServer({
    ...{ host, port: management_port },
    ...context,
  }).catch(nameTheSetting('LOOPTRACE_MANAGEMENT'))
  context.parts.defer(() => management.close())
  context.parts.defer(async () => {
    management.stopping()
    await sleep(config.drain_delay_ms)
  })
  context.ports['management_port'] = management.port
}

/** A start that is stopped gets this long to end by itself. */
const settle_ms_max = 2_000
/** Then what it opened gets this long to close; the end of the process ends what is left. */
const close_ms_max = 5_000

/**
 * Waits for a start, or cuts it off when the role is stopped: every start recovers from a kill
 * of the one before at any moment, so nothing is lost by not waiting for its end.
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
    logger.warn({ err: error }, 'what the start had opened did not close')
  })
  throw new StartStopped('the role was stopped while it started')
}

/** What a role that does one thing and ends is built with; it serves nothing. */
export function oneShot(
  role: string,
  { log_level: level, log_format: format }: Pick<RoleConfig<Role>, 'log_level' | 'log_format'>,
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

/** One JSON object a line, so that a script in front of the role can read them. */
export function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** The settings `<prefix>_HOST` and `<prefix>_PORT`. */
type AddressSettings = 'LOOPTRACE_HTTP' | 'LOOPTRACE_MANAGEMENT'

/** Adds to a failure to listen which setting to change; other errors are thrown as they are. */
export function nameTheSetting(prefix: AddressSettings): (error: unknown) => never {
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

/** Throws AddressUnavailable when the role will not be able to listen, before servers are started. */
export async function assertAddressesFree(
  config: Pick<
    RoleConfig<'all'>,
    'http_host' | 'http_port' | 'management_host' | 'management_port'
  >,
): Promise<void> {
  const { http_host, http_port, management_host, management_port } = config
  await assertAddressFree(http_host, http_port).catch(nameTheSetting('LOOPTRACE_HTTP'))
  await assertAddressFree(management_host, management_port).catch(
    nameTheSetting('LOOPTRACE_MANAGEMENT'),
  )
}

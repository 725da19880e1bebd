import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client'
import type { Logger } from '../telemetry/index.ts'
import type { BreakerLimits, columnarMeters } from './circuit-breaker.ts'
import {
  ColumnarError,
  ColumnarUnavailable,
  type QueryOptions,
  type ReadOptions,
} from './contract.ts'

/** Address of ClickHouse, and limits of one process. */
export type ColumnarOptions = {
  /** `http://host:8123`, no credentials in it. */
  url: string
  username: string
  password: string
  database: string
  /** Cluster of the tables; undefined for a single server. */
  cluster?: string | undefined
  /** Maximum time of a statement on the server, and the client's default timeout. */
  request_timeout_ms: number
  /** Maximum sockets, and so concurrent statements. Further statements wait. */
  connections_max: number
  /** Whether to use gzip in both directions, for a server across a network. */
  compression: boolean
  logger: Logger
  /** Without them, nothing is measured. */
  meters?: ReturnType<typeof columnarMeters>
  /** When reads of a server that does not answer are refused; the defaults are for a role. */
  breaker?: BreakerLimits & { probe_ms_max: number }
}

/** Longer than any limit of a request. A migration may take this long. */
const request_ms_max = 4_000_000

const settingsOfEveryRequest: ClickHouseSettings = {
  // Respond when the statement is done: an error after the first rows would arrive among the rows.
  wait_end_of_query: 1,
  output_format_json_quote_64bit_integers: 1,
}

/** Opens a client of one database. Without `keeps_alive`, each request has a new connection. */
export function createClickHouse(
  options: ColumnarOptions,
  database: string,
  keeps_alive = true,
): ClickHouseClient {
  return createClient({
    url: options.url,
    username: options.username,
    password: options.password,
    database,
    application: 'looptrace',
    // Each request has its own limit, so this one must not be shorter.
    request_timeout: request_ms_max,
    max_open_connections: options.connections_max,
    keep_alive: { enabled: keeps_alive },
    compression: { request: options.compression, response: options.compression },
    clickhouse_settings: settingsOfEveryRequest,
    log: clientLogger(options.logger),
  })
}

/** Extra wait of the client after the server's limit, so that the server's error arrives. */
const timeoutSlackMs = 1_000

type Timed = QueryOptions & Pick<ReadOptions, 'patience_ms'>
export type Limits = { abort_signal: AbortSignal; clickhouse_settings: ClickHouseSettings }

/** Runs requests with time limits, translates their errors, and waits for all of them. */
export function trackRequests(timeoutDefaultMs: number) {
  const running = new Set<Promise<unknown>>()
  const attempt = async <T>(options: Timed, work: (limits: Limits) => Promise<T>) => {
    const { timeout_ms = timeoutDefaultMs, patience_ms = timeoutSlackMs } = options
    const timeout = AbortSignal.timeout(timeout_ms + patience_ms)
    const signals = options.signal ? [timeout, options.signal] : [timeout]
    try {
      options.signal?.throwIfAborted()
      return await work({
        abort_signal: AbortSignal.any(signals),
        clickhouse_settings: { max_execution_time: timeout_ms / 1_000, ...options.settings },
      })
    } catch (cause) {
      options.signal?.throwIfAborted()
      throw columnarFailure(cause, timeout.aborted ? timeout_ms : undefined)
    }
  }
  return {
    run<T>(options: Timed | undefined, work: (limits: Limits) => Promise<T>): Promise<T> {
      const request = attempt(options ?? {}, work)
      running.add(request)
      const forget = () => running.delete(request)
      request.then(forget, forget)
      return request
    },
    idle: () => Promise.allSettled(running),
  }
}

/**
 * Temporary errors, for which a retry helps. Numbers from ClickHouse's src/Common/ErrorCodes.cpp.
 */
const temporaryCodes: ReadonlySet<number> = new Set([
  159, // TIMEOUT_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  252, // TOO_MANY_PARTS
  254, // NO_ACTIVE_REPLICAS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  319, // UNKNOWN_STATUS_OF_INSERT
  341, // UNFINISHED: a replica is inactive
  369, // ALL_REPLICAS_ARE_STALE
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  516, // AUTHENTICATION_FAILED: the password is wrong, or is being changed
  735, // QUERY_WAS_CANCELLED_BY_CLIENT
  999, // KEEPER_EXCEPTION
])

/** Translates an error of the client. `timed_out_ms` is set after a timeout of the client. */
function columnarFailure(
  cause: unknown,
  timed_out_ms: number | undefined,
): ColumnarError | ColumnarUnavailable {
  if (timed_out_ms !== undefined) {
    return new ColumnarUnavailable(`ClickHouse gave no answer within ${timed_out_ms} ms`, { cause })
  }
  if (!(cause instanceof ClickHouseError)) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return new ColumnarUnavailable(`ClickHouse gave no answer: ${reason}`, { cause })
  }
  const code = Number(cause.code)
  if (temporaryCodes.has(code)) {
    return new ColumnarUnavailable(`ClickHouse answered ${code} ${cause.type}`, { code, cause })
  }
  return new ColumnarError({
    code,
    type: cause.type ?? 'UNKNOWN',
    message: `ClickHouse refused: ${code} ${cause.type}: ${cause.message}`,
    cause,
  })
}

type Line = { module: string; message: string; args?: Record<string, unknown>; err?: Error }

/**
 * Routes the client's log to our logger at level debug: the client also throws each error that it
 * logs, and the caller handles it.
 */
function clientLogger(logger: Logger) {
  const log = (client_level: string) => (line: Line) =>
    logger.debug({ client_level, module: line.module, err: line.err }, line.message)
  class RoutedLogger {
    trace = log('trace')
    debug = log('debug')
    info = log('info')
    warn = log('warn')
    error = log('error')
  }
  const { WARN, OFF } = ClickHouseLogLevel
  return { LoggerClass: RoutedLogger, level: logger.isLevelEnabled('debug') ? WARN : OFF }
}

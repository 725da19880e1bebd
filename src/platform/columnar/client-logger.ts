import { ClickHouseLogLevel } from '@clickhouse/client'
import type { Logger } from '../telemetry/index.ts'

type Line = { module: string; message: string; args?: Record<string, unknown>; err?: Error }

/**
 * Routes what the client logs to our logger, at debug: each failure it logs it also throws, and
 * whoever catches it decides what it means.
 */
export function clientLogger(logger: Logger) {
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

export { createLogger, type Logger } from './logger.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export { createQuietLog, type QuietLog } from './quiet-log.ts'
export { inSpan, startTracing, type Tracing } from './tracing.ts'

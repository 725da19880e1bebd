export { createLogger, createQuietLog, type Logger, type QuietLog } from './logger.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export { inSpan, startTracing, type Tracing } from './tracing.ts'

export { createLogger, createQuietLog, type Logger, type QuietLog } from './logger.ts'
export {
  createMetrics,
  inSpan,
  type Metrics,
  startTracing,
} from './metrics-and-spans.ts'

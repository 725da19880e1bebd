import { pino } from 'pino'

/** Structured logs, one JSON object a line, to standard output. */
export type Logger = pino.Logger

/** Paths whose values never reach a log line, whoever logs them. */
const redactedPaths = [
  'authorization',
  'password',
  'key',
  'token',
  'secret',
  '*.authorization',
  '*.password',
  '*.secret',
  '*.token',
  '*.key',
  '*["x-api-key"]',
  'headers',
  '*.headers',
]

/** Makes the logger of a process; `role` stands in every line. */
export function createLogger(options: {
  role: string
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
}): Logger {
  return pino({
    level: options.level,
    base: { role: options.role },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
    redact: { paths: redactedPaths, censor: '[redacted]' },
  })
}

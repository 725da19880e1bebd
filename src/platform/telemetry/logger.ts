import { styleText } from 'node:util'
import { pino } from 'pino'
import { prettyLine, type Styled } from './pretty-line.ts'

/** Structured logs, one line each, to standard output. */
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

/**
 * Makes the logger of a process. Its lines are JSON objects with `role` in each, or lines for people
 * when `format` is `pretty`, or `auto` and standard output is a terminal.
 */
export function createLogger(options: {
  role: string
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  format?: 'auto' | 'pretty' | 'json'
}): Logger {
  const { role, level, format = 'json' } = options
  const settings: pino.LoggerOptions = {
    level,
    base: { role },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (name) => ({ level: name }) },
    redact: { paths: redactedPaths, censor: '[redacted]' },
  }
  const isPretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY)
  return isPretty ? pino(settings, forPeople) : pino(settings)
}

/** Colours only where standard output is a terminal and NO_COLOR is not set, as `styleText` does. */
const forPeople: pino.DestinationStream = {
  write: (line) => {
    const styled: Styled = (style, text) => styleText(style, text, { stream: process.stdout })
    process.stdout.write(prettyLine(line, styled))
  },
}

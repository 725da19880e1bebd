import { styleText } from 'node:util'
import { pino } from 'pino'
import { printable } from '../../kernel/printable.ts'
import type { Clock } from '../../kernel/time.ts'

/** A structured logger that writes one line per entry to standard output. */
export type Logger = pino.Logger

/** Paths whose values are redacted in every log line. */
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
 * Creates the logger of a process. Lines are JSON objects with the `role`, or lines for people when
 * `format` is `pretty`, or `auto` and standard output is a terminal.
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

/**
 * Writes lines for people, with colours if standard output is a terminal and NO_COLOR is not set.
 */
const forPeople: pino.DestinationStream = {
  write: (line) => {
    const styled: Styled = (style, text) => styleText(style, text, { stream: process.stdout })
    process.stdout.write(prettyLine(line, styled))
  },
}

/** Colours a part of a line, or returns it as it is. */
type Styled = (style: Extract<Parameters<typeof styleText>[0], string>, text: string) => string

const styleOf: Readonly<Record<string, Parameters<Styled>[0]>> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
}

/**
 * Formats one JSON line of the log for people: time, level, message, fields. Replaces pino-pretty,
 * which adds 12 packages and 1.3 MB to the image and passes control characters of logged payloads
 * to the terminal.
 */
export function prettyLine(line: string, styled: Styled): string {
  const entry = parseEntry(line)
  if (entry === undefined) return `${printable(line.trimEnd())}\n`
  const { level, time, msg, role: _role, err, ...fields } = entry
  const name = String(level)
  const parts = Object.entries(err === undefined ? fields : { ...fields, err: messageOf(err) })
  const shown = parts.map(
    ([key, value]) => `${styled('dim', `${printable(key)}=`)}${formatValue(value)}`,
  )
  const words = msg === undefined ? [] : [printable(String(msg))]
  const text = [...words, ...(shown.length > 0 ? [shown.join(' ')] : [])].join('  ')
  const severity = styled(styleOf[name] ?? 'dim', name.toUpperCase().padEnd(5))
  const frames = name === 'error' || name === 'fatal' ? formatStack(err) : ''
  return `${styled('dim', formatTime(time))} ${severity} ${text}\n${frames}`
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function formatTime(time: unknown): string {
  return new Date(String(time)).toTimeString().slice(0, 8)
}

function messageOf(error: unknown): unknown {
  return (error as { message?: unknown } | null)?.message ?? error
}

/** Returns the stack frames without the message, which is in the line already. */
function formatStack(error: unknown): string {
  const { stack } = (error ?? {}) as { stack?: unknown }
  const frames = String(stack ?? '')
    .split('\n')
    .filter((frame) => /^\s+at /.test(frame))
  return frames.map((frame) => `    ${printable(frame.trim())}\n`).join('')
}

const maxValueLength = 1_000

function formatValue(value: unknown): string {
  const bare = typeof value === 'string' && /^[\w./:@+-]+$/.test(value)
  const text = bare ? value : (JSON.stringify(value) ?? '')
  return printable(text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text)
}

/** Logs a kind of warning at most once per interval, with the number of suppressed lines. */
export type QuietLog = (kind: string, details: Record<string, unknown>) => void

/** Maximum tracked kinds. Kinds are constants of the code, so few exist. */
const kinds_max = 64

/** Creates a log that a fault of every call cannot flood. */
export function createQuietLog(logger: Logger, clock: Clock, interval_ms: number): QuietLog {
  const seen = new Map<string, { next_ms: number; suppressed: number }>()
  return (kind, details) => {
    const now_ms = clock.now_ms()
    const entry = seen.get(kind)
    if (entry && now_ms < entry.next_ms) {
      entry.suppressed += 1
      return
    }
    logger.warn({ ...details, suppressed: entry?.suppressed ?? 0 }, kind)
    if (entry || seen.size < kinds_max) {
      seen.set(kind, { next_ms: now_ms + interval_ms, suppressed: 0 })
    }
  }
}

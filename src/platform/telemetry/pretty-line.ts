import type { styleText } from 'node:util'
import { printable } from '../../kernel/printable.ts'

/** Colours a part of a line, or returns it as it is. */
export type Styled = (
  style: Extract<Parameters<typeof styleText>[0], string>,
  text: string,
) => string

const styleOf: Readonly<Record<string, Parameters<Styled>[0]>> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
}

/**
 * Turns one JSON line of the log into a line for people: time, level, message, fields. Written here
 * and not left to pino-pretty, which is 12 packages and 1.3 MB in the image and passes control
 * characters of logged payloads on to the terminal.
 */
export function prettyLine(line: string, styled: Styled): string {
  const entry = entryIn(line)
  if (entry === undefined) return `${printable(line.trimEnd())}\n`
  const { level, time, msg, role: _role, err, ...fields } = entry
  const name = String(level)
  const parts = Object.entries(err === undefined ? fields : { ...fields, err: messageOf(err) })
  const shown = parts.map(
    ([key, value]) => `${styled('dim', `${printable(key)}=`)}${shownValue(value)}`,
  )
  const words = msg === undefined ? [] : [printable(String(msg))]
  const text = [...words, ...(shown.length > 0 ? [shown.join(' ')] : [])].join('  ')
  const severity = styled(styleOf[name] ?? 'dim', name.toUpperCase().padEnd(5))
  const frames = name === 'error' || name === 'fatal' ? stackOf(err) : ''
  return `${styled('dim', clockTime(time))} ${severity} ${text}\n${frames}`
}

function entryIn(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function clockTime(time: unknown): string {
  return new Date(String(time)).toTimeString().slice(0, 8)
}

function messageOf(error: unknown): unknown {
  return (error as { message?: unknown } | null)?.message ?? error
}

/** Returns the frames alone, as the line has the message. */
function stackOf(error: unknown): string {
  const { stack } = (error ?? {}) as { stack?: unknown }
  const frames = String(stack ?? '')
    .split('\n')
    .filter((frame) => /^\s+at /.test(frame))
  return frames.map((frame) => `    ${printable(frame.trim())}\n`).join('')
}

const valueLength_max = 1_000

function shownValue(value: unknown): string {
  const bare = typeof value === 'string' && /^[\w./:@+-]+$/.test(value)
  const text = bare ? value : (JSON.stringify(value) ?? '')
  return printable(text.length > valueLength_max ? `${text.slice(0, valueLength_max)}…` : text)
}

import type { Path } from './read-documents.ts'

/** A fault in a resource at a path. */
export type Fault = {
  path: Path
  /** Whether the position is that of the key or of the value. */
  part: 'key' | 'value'
  level: 'error' | 'warning'
  /** A sentence with the actual and the expected value. */
  message: string
}

/** Creates an error at the value of a path. */
export function faultAt(path: Path, message: string): Fault {
  return { path, part: 'value', level: 'error', message }
}

/** Formats a path: `spec.keys[0].name`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}

/** Quotes a value for a message, cut to a maximum length. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text
}

const quotedMax = 60

/** Whether a value is an object with fields. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

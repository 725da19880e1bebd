import type { Path } from './read-documents.ts'

/** Something that is wrong in a resource, at a path of it. */
export type Fault = {
  path: Path
  /** What to point at. */
  part: 'key' | 'value'
  level: 'error' | 'warning'
  /** A sentence: what was found, what was expected. */
  message: string
}

/** An error at the value of a path. */
export function faultAt(path: Path, message: string): Fault {
  return { path, part: 'value', level: 'error', message }
}

/** `spec.keys[0].name`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}

/** A value as it is quoted in a message. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text
}

const quotedMax = 60

/** A value that has fields. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

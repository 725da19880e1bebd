import { isoFromNs } from '../../kernel/time.ts'
import type { Parameter } from './parameters.ts'

/** The body of a query with placeholders: `{"$param": "name"}`. */
export type Template = Readonly<Record<string, unknown>>

type Path = readonly (string | number)[]

/** A placeholder of a template: its JSON pointer, and the name of its parameter. */
type Placeholder = { pointer: string; name: string }

/** Finds the placeholders of a template, in order. */
export function findPlaceholders(template: Template): Placeholder[] {
  const placeholders: Placeholder[] = []
  walk(template, [], ({ name, path }) => {
    placeholders.push({ name, pointer: pointerTo(path) })
    return null
  })
  return placeholders
}

/** Replaces the placeholders of a template with values. */
export function fillTemplate(
  template: Template,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return walk(template, [], ({ name }) => values[name] ?? null) as Record<string, unknown>
}

/** Maximum depth searched for placeholders. Queries this deep are refused anyway. */
const depth_max = 64

function walk(
  value: unknown,
  path: Path,
  replace: (place: { name: string; path: Path }) => unknown,
): unknown {
  if (typeof value !== 'object' || value === null || path.length > depth_max) return value
  if (Array.isArray(value)) return value.map((each, at) => walk(each, [...path, at], replace))
  const name = parameterIn(value)
  if (name !== undefined) return replace({ name, path })
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, walk(each, [...path, key], replace)]),
  )
}

function parameterIn(value: object): string | undefined {
  const keys = Object.keys(value)
  if (keys.length !== 1 || keys[0] !== '$param') return undefined
  return String((value as { $param: unknown }).$param)
}

/** Returns a path as a JSON pointer (RFC 6901). */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

const units_ms = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
} as const

/** Converts `{last: "24h"}` to a window that ends now. Returns any other value unchanged. */
export function absoluteWindow(window: unknown, now_ms: number): unknown {
  if (typeof window !== 'object' || window === null) return window
  const { last, ...others } = window as { last?: unknown }
  if (typeof last !== 'string' || Object.keys(others).length > 0) return window
  const [, digits = '', unit = ''] = /^([1-9]\d{0,4})([smhdw])$/.exec(last) ?? []
  if (digits === '') return window
  const length_ms = Number(digits) * units_ms[unit as keyof typeof units_ms]
  return { from: iso(Math.max(0, now_ms - length_ms)), to: iso(now_ms) }
}

function iso(ms: number): string {
  return isoFromNs(BigInt(ms) * 1_000_000n)
}

/** Returns the value of each parameter: the given one, else the default. */
export function chooseValues(
  parameters: readonly Parameter[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    parameters.map(({ name, default: fallback }) => [
      name,
      Object.hasOwn(given, name) ? given[name] : fallback,
    ]),
  )
}

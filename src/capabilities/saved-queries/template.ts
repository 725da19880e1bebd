import { isoFromNs } from '../../kernel/time.ts'
import type { Parameter } from './parameters.ts'

/** The body of a query in which `{"$param": "name"}` stands for a value. */
export type Template = Readonly<Record<string, unknown>>

type Path = readonly (string | number)[]

/** Where a parameter stands in a template. */
export type Place = { pointer: string; name: string }

/** The places of parameters, in order. */
export function placesIn(template: Template): Place[] {
  const places: Place[] = []
  walk(template, [], ({ name, path }) => {
    places.push({ name, pointer: pointerTo(path) })
    return null
  })
  return places
}

/** The template with values in the places of its parameters. */
export function filled(
  template: Template,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return walk(template, [], ({ name }) => values[name] ?? null) as Record<string, unknown>
}

/** Levels that are looked into; deeper ones are refused as a query is. */
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

/** A JSON pointer (RFC 6901). */
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

/** `{last: "24h"}` as a window that ends now; any other value as it came. */
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

/** The values of a run: what is given, else the default. */
export function valuesOf(
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

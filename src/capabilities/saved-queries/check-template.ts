import type { z } from 'zod'
import type { Fault } from '../../kernel/problem.ts'
import { aggregateSchema, querySchema } from '../query/index.ts'
import { type Parameter, parameterReaders } from './parameters.ts'
import { absoluteWindow, filled, placesIn, pointerTo, type Template } from './template.ts'

/** What a saved query asks, as far as its check is about it. */
export type Checked = {
  kind: 'query' | 'aggregate'
  body: Template
  parameters: readonly Parameter[]
}

/**
 * What of a template does not hold against the catalogue of entities and fields as it is now. What
 * is wrong with the value of a parameter shows when it is run.
 */
export function faultsOf(checked: Checked, now_ms: number): Fault[] {
  const { kind, body, parameters } = checked
  const places = placesIn(body)
  const names = parameters.map(({ name }) => name)
  const unknown = places
    .filter(({ name }) => !names.includes(name))
    .map(({ pointer, name }) => ({
      pointer,
      detail: `got "${name.slice(0, 80)}", expected a parameter: ${names.join(', ') || 'there is none'}`,
    }))
  if (unknown.length > 0) return unknown
  if (Object.hasOwn(body, 'cursor')) return [{ pointer: '/cursor', detail: 'expected none here' }]
  const samples = Object.fromEntries(
    parameters.map(({ name, type, ...given }) => [
      name,
      given.default ?? parameterReaders[type].sample,
    ]),
  )
  const result = parsed(kind, runnable(filled(body, samples), now_ms))
  if (result.success) return []
  const ofValues = places.map(({ pointer }) => pointer)
  return faultsIn(result.error).filter(({ pointer }) => !isWithin(pointer, ofValues))
}

/** The body with its window as two instants. */
export function runnable(body: Record<string, unknown>, now_ms: number): Record<string, unknown> {
  return { ...body, window: absoluteWindow(body['window'], now_ms) }
}

/** Reads a whole body. */
export function parsed(kind: Checked['kind'], body: object) {
  return kind === 'query'
    ? querySchema.transform((asked) => ({ kind: 'query' as const, ...asked })).safeParse(body)
    : aggregateSchema
        .transform((aggregate) => ({ kind: 'aggregate' as const, aggregate }))
        .safeParse(body)
}

/** What is wrong and where, by JSON pointers into the body. */
export function faultsIn(error: z.ZodError): Fault[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') {
      return [{ pointer: pointerTo(issue.path), detail: issue.message }]
    }
    return issue.keys.map((key) => ({
      pointer: pointerTo([...issue.path, key]),
      detail: 'it is not a field here',
    }))
  })
}

/** True for a pointer to one of the places, or to something in it. */
export function isWithin(pointer: string, places: readonly string[]): boolean {
  return places.some((place) => pointer === place || pointer.startsWith(`${place}/`))
}

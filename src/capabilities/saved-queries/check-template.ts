import type { z } from 'zod'
import type { Fault } from '../../kernel/problem.ts'
import { aggregateSchema, querySchema } from '../query/index.ts'
import { type Parameter, parameterReaders } from './parameters.ts'
import {
  absoluteWindow,
  fillTemplate,
  findPlaceholders,
  pointerTo,
  type Template,
} from './template.ts'

/** The part of a saved query that its check reads. */
export type QueryTemplate = {
  kind: 'query' | 'aggregate'
  body: Template
  parameters: readonly Parameter[]
}

/**
 * Checks a template against the current entities and fields, and returns its faults. Values of
 * parameters are checked at the run.
 */
export function checkTemplate(template: QueryTemplate, now_ms: number): Fault[] {
  const { kind, body, parameters } = template
  const placeholders = findPlaceholders(body)
  const names = parameters.map(({ name }) => name)
  const unknown = placeholders
    .filter(({ name }) => !names.includes(name))
    .map(({ pointer, name }) => ({
      pointer,
      detail: `got "${name.slice(0, 80)}", expected a parameter: ${names.join(', ') || 'no parameters are defined'}`,
    }))
  if (unknown.length > 0) return unknown
  if (Object.hasOwn(body, 'cursor'))
    return [{ pointer: '/cursor', detail: 'expected no cursor in a saved query' }]
  const samples = Object.fromEntries(
    parameters.map(({ name, type, ...given }) => [
      name,
      given.default ?? parameterReaders[type].sample,
    ]),
  )
  const result = parseBody(kind, withAbsoluteWindow(fillTemplate(body, samples), now_ms))
  if (result.success) return []
  const ofValues = placeholders.map(({ pointer }) => pointer)
  return toFaults(result.error).filter(({ pointer }) => !isWithin(pointer, ofValues))
}

/** Returns the body with a relative window made absolute. */
export function withAbsoluteWindow(
  body: Record<string, unknown>,
  now_ms: number,
): Record<string, unknown> {
  return { ...body, window: absoluteWindow(body['window'], now_ms) }
}

/** Parses a body after its placeholders are filled. */
export function parseBody(kind: QueryTemplate['kind'], body: object) {
  return kind === 'query'
    ? querySchema.transform((asked) => ({ kind: 'query' as const, ...asked })).safeParse(body)
    : aggregateSchema
        .transform((aggregate) => ({ kind: 'aggregate' as const, aggregate }))
        .safeParse(body)
}

/** Converts issues to faults with JSON pointers into the body. */
export function toFaults(error: z.ZodError): Fault[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') {
      return [{ pointer: pointerTo(issue.path), detail: issue.message }]
    }
    return issue.keys.map((key) => ({
      pointer: pointerTo([...issue.path, key]),
      detail: 'unknown field',
    }))
  })
}

/** Returns true for a pointer to, or into, one of the others. */
export function isWithin(pointer: string, parents: readonly string[]): boolean {
  return parents.some((parent) => pointer === parent || pointer.startsWith(`${parent}/`))
}

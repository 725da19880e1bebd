import type { QueryParameter, QueryParameterType, SavedQuery } from '../../api/schema.gen.d.ts'
import { type Body, readBody, type Window } from './body.ts'
import { fillPlaceholders } from './filter-tree.ts'

/**
 * Returns the query of a saved one, with values in the place of its parameters. A parameter
 * without a value gets its default.
 */
export function bodyOfSaved(
  { body, parameters }: Pick<SavedQuery, 'body' | 'parameters'>,
  values: Readonly<Record<string, unknown>>,
):
  | { body: Body; window: Window | undefined; fault?: undefined }
  | { fault: string; body?: undefined; window?: undefined } {
  const defaults = parameters.filter((each) => each.default !== undefined && each.default !== null)
  const all = {
    ...Object.fromEntries(defaults.map((each) => [each.name, each.default])),
    ...values,
  }
  return readBody(JSON.stringify(fillPlaceholders(body, all)))
}

/** Reads what a person typed for all parameters, with a message for each wrong one. */
export function readParameters(
  parameters: readonly QueryParameter[],
  typed: Readonly<Record<string, string>>,
): { values: Record<string, unknown>; wrong: Record<string, string> } {
  const values: Record<string, unknown> = {}
  const wrong: Record<string, string> = {}
  for (const { name, type, required } of parameters) {
    try {
      const value = readParameter(typed[name] ?? '', type)
      if (value !== undefined) values[name] = value
      else if (required) wrong[name] = 'This run needs a value'
    } catch (error) {
      wrong[name] = error instanceof Error ? error.message : String(error)
    }
  }
  return { values, wrong }
}

/** Reads what a person typed as a parameter; undefined for nothing. Throws for a wrong value. */
function readParameter(text: string, type: QueryParameterType): unknown {
  if (text === '') return undefined
  if (type === 'texts') return text.split('\n').filter((line) => line !== '')
  if (type === 'boolean') return readFlag(text)
  if (type !== 'integer' && type !== 'number') return text
  const number = Number(text)
  const isRight = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)
  if (!isRight) throw new RangeError(`got ${text}, expected type ${type}`)
  return number
}

function readFlag(text: string): boolean {
  if (text !== 'true' && text !== 'false')
    throw new RangeError(`got ${text}, expected true or false`)
  return text === 'true'
}

/** Returns whether two queries are equal. The store keeps no order of names. */
export function isSameQuery(one: unknown, other: unknown): boolean {
  return sortedJson(one) === sortedJson(other)
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

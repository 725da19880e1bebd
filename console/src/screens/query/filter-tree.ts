import type { Condition, Filter } from './body.ts'

/** The way to a part of a filter: places in `and` and `or`, and `not`. */
export type FilterPath = readonly (number | 'not')[]

export function isCondition(filter: Filter): filter is Condition {
  return 'field' in filter
}

/** Returns the kind and the parts of a group; undefined for a condition and for `not`. */
export function groupOf(filter: Filter): { kind: 'and' | 'or'; parts: Filter[] } | undefined {
  if ('and' in filter) return { kind: 'and', parts: filter.and }
  if ('or' in filter) return { kind: 'or', parts: filter.or }
  return undefined
}

/** Makes a group. The API refuses a group without parts, so none is undefined. */
export function makeGroup(kind: 'and' | 'or', parts: Filter[]): Filter | undefined {
  if (parts.length === 0) return undefined
  return kind === 'and' ? { and: parts } : { or: parts }
}

/**
 * Replaces the part at a path, or removes it with undefined. Groups that become empty are removed
 * too. A path that leads nowhere changes nothing.
 */
export function replaceAt(
  filter: Filter,
  path: FilterPath,
  part: Filter | undefined,
): Filter | undefined {
  const [step, ...rest] = path
  if (step === undefined) return part
  if (step === 'not') {
    if (!('not' in filter)) return filter
    const inner = replaceAt(filter.not, rest, part)
    return inner && { not: inner }
  }
  const group = groupOf(filter)
  const child = group?.parts[step]
  if (group === undefined || child === undefined) return filter
  const changed = replaceAt(child, rest, part)
  const parts = group.parts.flatMap((each, at) => (at === step ? (changed ?? []) : each))
  return makeGroup(group.kind, parts)
}

/** Adds a part to a whole filter, which must then match too. */
export function addTo(filter: Filter | undefined, part: Filter): Filter {
  if (filter === undefined) return { and: [part] }
  return 'and' in filter ? { and: [...filter.and, part] } : { and: [filter, part] }
}

/** Returns the opposite of a filter. */
export function negate(filter: Filter): Filter {
  return 'not' in filter ? filter.not : { not: filter }
}

/** Returns the names of the placeholders `{"$param": name}` of a query, each once. */
export function placeholdersIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const name = Object.hasOwn(value, '$param') ? (value as { $param: unknown }).$param : undefined
  if (typeof name === 'string') return [name]
  return [...new Set(Object.values(value).flatMap(placeholdersIn))]
}

/** Puts values in the place of placeholders. One without a value stays. */
export function fillPlaceholders<T>(value: T, values: Readonly<Record<string, unknown>>): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => fillPlaceholders(each, values)) as T
  const name = Object.hasOwn(value, '$param') ? (value as { $param?: unknown }).$param : undefined
  if (typeof name === 'string') return (Object.hasOwn(values, name) ? values[name] : value) as T
  const entries = Object.entries(value).map(([key, each]) => [key, fillPlaceholders(each, values)])
  return Object.fromEntries(entries) as T
}

/** Returns all conditions of a filter, in their order. */
export function conditionsIn(filter: Filter): Condition[] {
  if (isCondition(filter)) return [filter]
  if ('not' in filter) return conditionsIn(filter.not)
  return groupOf(filter)?.parts.flatMap(conditionsIn) ?? []
}

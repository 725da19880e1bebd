import { isoFromNs } from '../../../kernel/time.ts'
import type { Aggregate, Group } from './check-aggregate.ts'
import type { Query, QueryWindow } from './check-query.ts'
import type { FieldType } from './field.ts'
import type { Filter, Test } from './filter.ts'
import type { Reference } from './reference.ts'
import type { Scalar } from './values.ts'

/** A query as it was understood, in JSON: two that ask for the same in the same words are equal. */
export function normalQuery(query: Query) {
  const { entity, window, where, select, order_by, limit, include_restored } = query
  return {
    entity: entity.name,
    window: shownWindow(window),
    ...(where && { where: shownFilter(where) }),
    select: select.map(({ name }) => name),
    order_by: order_by.map(({ reference, direction }) => ({ field: reference.name, direction })),
    limit,
    ...(include_restored && { include_restored }),
  }
}

/** See `normalQuery`. */
export function normalAggregate(aggregate: Aggregate) {
  const { entity, window, where, groups, measures, having, order_by } = aggregate
  const { limit, fill, top_n, include_restored } = aggregate
  return {
    entity: entity.name,
    window: shownWindow(window),
    ...(where && { where: shownFilter(where) }),
    group_by: groups.map(shownGroup),
    measures: measures.map(({ fn, name, reference }) => ({
      fn,
      ...(reference && { field: shownName(reference) }),
      as: name,
    })),
    ...(having && { having: shownFilter(having) }),
    order_by: order_by.map(({ name, direction }) => ({ field: name, direction })),
    limit,
    fill,
    ...(top_n && { top_n }),
    ...(include_restored && { include_restored }),
  }
}

function shownWindow({ from, to }: QueryWindow) {
  return { from: isoFromNs(from), to: isoFromNs(to) }
}

/** A measured key of a map has another name than the key. */
function shownName({ name, field, map_key }: Reference): string {
  return map_key === undefined ? name : `${field.name}.${map_key}`
}

type FilterForm =
  | { field: string; op: string; value: unknown }
  | { and: FilterForm[] }
  | { or: FilterForm[] }
  | { not: FilterForm }

const opposites = { eq: 'ne', in: 'not_in' } as const

function shownFilter(filter: Filter): FilterForm {
  switch (filter.kind) {
    case 'and':
      return { and: filter.parts.map(shownFilter) }
    case 'or':
      return { or: filter.parts.map(shownFilter) }
    case 'test':
      return shownTest(filter, filter.op)
    case 'not': {
      const { part } = filter
      if (part.kind === 'test' && (part.op === 'eq' || part.op === 'in')) {
        return shownTest(part, opposites[part.op])
      }
      return { not: shownFilter(part) }
    }
  }
}

function shownTest({ reference, op: asked, value }: Test, op: string): FilterForm {
  const { type } = reference.field
  const shown =
    typeof value === 'object'
      ? value.map((each) => shownScalar(each, type))
      : shownScalar(value, asked === 'exists' ? 'bool' : type)
  return { field: reference.name, op, value: shown }
}

function shownScalar(value: Scalar, type: FieldType): string | number | boolean {
  if (type === 'time') return isoFromNs(BigInt(value))
  return typeof value === 'bigint' ? String(value) : value
}

const units = [
  ['d', 86_400_000_000_000n],
  ['h', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
  ['s', 1_000_000_000n],
] as const

function shownGroup(group: Group) {
  if (group.kind === 'field') return group.name
  const { width_ns, offset_ns } = group
  if (offset_ns !== 0n) return { time_bucket: `${width_ns / (7n * units[0][1])}w` }
  const [unit, size] = units.find(([, each]) => width_ns % each === 0n) ?? units[3]
  return { time_bucket: `${width_ns / size}${unit}` }
}

import fc from 'fast-check'
import { catalogue, type EntityName } from '../../src/capabilities/query/language/catalogue.ts'
import { operatorsByType } from '../../src/capabilities/query/language/values.ts'
import type { Groups, Order } from './query-evaluation.ts'

/** Values that filters compare each field with, including the empty text. */
export type Pools = Readonly<Record<string, readonly unknown[]>>

/** Filters over fields of an entity, in JSON. */
export function filtersOver(entity: EntityName, pools: Pools): fc.Arbitrary<object> {
  const leaf = fc
    .constantFrom(...Object.entries(pools))
    .chain(([field, pool]) => testOf(entity, field, pool))
  return fc.letrec<{ node: object }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      leaf,
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
      tie('node').map((not) => ({ not })),
    ),
  })).node
}

function testOf(entity: EntityName, field: string, pool: readonly unknown[]) {
  const type = catalogue[entity].fields[field]?.type ?? 'text'
  const isText = type === 'text' || type === 'list'
  const value = fc.constantFrom(...pool, ...(isText ? [''] : []))
  return fc.constantFrom(...operatorsByType[type]).chain((op): fc.Arbitrary<object> => {
    if (op === 'exists') return fc.boolean().map((known) => ({ field, op, value: known }))
    if (op === 'in' || op === 'not_in') {
      const values = fc.array(isText ? value.map(String) : value, { minLength: 1, maxLength: 3 })
      return values.map((given) => ({ field, op, value: given }))
    }
    const comparesText = op === 'contains' || op === 'starts_with'
    return value.map((given) => ({ field, op, value: comparesText ? String(given) : given }))
  })
}

/** Orders by some of the names, in JSON. */
export function ordersOver(names: readonly string[], maxLength = 3): fc.Arbitrary<Order> {
  const direction = fc.constantFrom('asc' as const, 'desc' as const)
  return fc.uniqueArray(fc.record({ field: fc.constantFrom(...names), direction }), {
    maxLength,
    selector: ({ field }) => field,
  })
}

/** Fields that aggregates group by, count, and measure. */
export type Measurable = { groups: readonly string[]; counted: string[]; measured: string[] }

/** Aggregates without buckets over the filters. */
export function groupsOver(
  where: fc.Arbitrary<object>,
  { groups, counted, measured }: Measurable,
): fc.Arbitrary<Groups> {
  const measures = fc.tuple(
    fc.constant({ fn: 'count', as: 'n' }),
    fc.record({
      fn: fc.constant('count_distinct'),
      field: fc.constantFrom(...counted),
      as: fc.constant('distinct'),
    }),
    fc.record({
      fn: fc.constantFrom('min', 'max'),
      field: fc.constantFrom(...measured),
      as: fc.constant('bound'),
    }),
  )
  const group_by = fc.subarray([...groups], { maxLength: 3 })
  const having = fc.record({
    field: fc.constantFrom('n', 'distinct'),
    op: fc.constantFrom('gt', 'lte', 'ne'),
    value: fc.integer({ min: 0, max: 5 }),
  })
  return group_by.chain((by) =>
    fc.record({
      where,
      measures,
      group_by: fc.constant(by),
      order_by: ordersOver(['n', 'distinct', 'bound', ...by]),
      limit: fc.integer({ min: 1, max: 60 }),
      ...(by.length > 0 && { having: fc.oneof(fc.constant(undefined), having) }),
    }),
  ) as fc.Arbitrary<Groups>
}

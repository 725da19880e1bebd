import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aggregateSchema } from '../language/aggregate-query.ts'
import { catalogue, entityNames } from '../language/catalogue.ts'
import { querySchema } from '../language/page-query.ts'
import { operatorsByType } from '../language/values.ts'
import { compileAggregate } from './compile-aggregate.ts'
import { compileQuery } from './compile-query.ts'
import { clickhouse } from './dialects/clickhouse.ts'
import { postgres } from './dialects/postgres.ts'
import type { Statement } from './statement.ts'

const project_id = '0198c0de-0000-7000-8000-0000000000aa'
const window = { from: '2026-11-01T00:00:00Z', to: '2026-11-08T00:00:00Z' }

/** Hostile text, marked so that the test finds it in a statement. */
const hostile = fc
  .oneof(
    fc.string({ maxLength: 20, unit: 'grapheme' }),
    fc.constantFrom("' OR 1=1 --", '{p0:String}', '$1', '\\', '`', '/*', '";', "'||'", '\n'),
  )
  .filter((text) => !text.includes('\u0000') && text.isWellFormed())
  .map((text) => `zq${text}zq`)

const values: Record<string, fc.Arbitrary<unknown>> = {
  text: hostile,
  list: hostile,
  uuid: fc.uuid(),
  integer: fc.integer(),
  float: fc.double({ noNaN: true, noDefaultInfinity: true }),
  decimal: fc.constantFrom('0.5', '12', '-3.25'),
  time: fc.constant('2026-11-02T00:00:00.000000001Z'),
  bool: fc.boolean(),
  json: fc.constant(true),
}

function leafOf(entity: (typeof catalogue)[keyof typeof catalogue]): fc.Arbitrary<object> {
  const keys = entity.maps.map((map) =>
    hostile.map((key) => ({ name: `${map}.${key}`, type: 'text' })),
  )
  const fields = fc.constantFrom(...Object.values(entity.fields))
  return fc.oneof(fields, ...keys).chain(({ name, type }) => {
    const ops = operatorsByType[type as keyof typeof operatorsByType]
    const one = values[type] ?? hostile
    return fc.constantFrom(...ops).chain((op) => {
      const many = op === 'in' || op === 'not_in'
      const value =
        op === 'exists' ? fc.boolean() : many ? fc.array(one, { minLength: 1, maxLength: 3 }) : one
      return value.map((given) => ({ field: name, op, value: given }))
    })
  })
}

const anyBody = fc.constantFrom(...entityNames).chain((entity) => {
  const leaf = leafOf(catalogue[entity])
  const nested = fc.oneof(
    leaf,
    fc.array(leaf, { minLength: 1, maxLength: 4 }).map((and) => ({ and })),
    fc.array(leaf, { minLength: 1, maxLength: 4 }).map((or) => ({ not: { or } })),
  )
  return fc.record({ entity: fc.constant(entity), where: nested })
})

function placeholders(text: string): Set<string> {
  return new Set(text.match(/\{p\d+:|\$\d+/g))
}

function holdsNothingGiven({ text, params }: Statement) {
  expect(text).not.toContain('zq')
  expect(text).not.toContain(project_id)
  expect(placeholders(text).size).toBe(params.length)
}

test('a statement holds no text of a client, and names each of its parameters', () => {
  fc.assert(
    fc.property(anyBody, ({ entity, where }) => {
      const { query } = querySchema.parse({ entity, where, window })
      const aggregate = aggregateSchema.parse({
        entity,
        where,
        window,
        group_by: [{ time_bucket: '1h' }],
        measures: [
          { fn: 'count', as: 'zq' },
          { fn: 'rate', as: 'per_second' },
        ],
      })
      for (const dialect of [clickhouse, postgres]) {
        if (!query.entity.stores[dialect.store]) continue
        holdsNothingGiven(compileQuery(query, { project_id, dialect }))
        holdsNothingGiven(compileAggregate(aggregate, { project_id, dialect }))
      }
    }),
    { numRuns: 300 },
  )
})

test('equal queries compile to equal text', () => {
  fc.assert(
    fc.property(anyBody, (body) => {
      const dialect = ['tasks', 'findings'].includes(body.entity) ? postgres : clickhouse
      const compiled = () =>
        compileQuery(querySchema.parse({ ...body, window }).query, { project_id, dialect })
      expect(compiled()).toEqual(compiled())
    }),
    { numRuns: 50 },
  )
})

test('nor does it when a map key of a client is selected or sorted by', () => {
  const key = hostile.map((text) => `attributes.${text}`)
  fc.assert(
    fc.property(key, hostile, (field, after) => {
      const body = { entity: 'observations', window, select: [field], order_by: [{ field }] }
      const { query } = querySchema.parse(body)
      const aggregate = aggregateSchema.parse({
        ...{ entity: 'observations', window, group_by: [field] },
        measures: [{ fn: 'max', field, as: 'zq' }],
        top_n: { n: 3, by: 'zq' },
      })
      for (const dialect of [clickhouse, postgres]) {
        const position = [after, '1', '0198c0de-0000-7000-8000-00000000000a', 'zq']
        holdsNothingGiven(compileQuery(query, { project_id, dialect, after: position }))
        holdsNothingGiven(compileAggregate(aggregate, { project_id, dialect }))
      }
    }),
    { numRuns: 100 },
  )
})

import { expect, test } from 'vitest'
import { aggregateSchema } from '../language/aggregate-query.ts'
import { querySchema } from '../language/page-query.ts'
import { normalAggregate, normalQuery } from './prepare-run.ts'

const window = { from: '2026-11-01T01:00:00+01:00', to: '2026-11-08T00:00:00Z' }

test('a query equals its parsed normal form', () => {
  const where = {
    and: [
      { field: 'model', op: 'ne', value: 'm' },
      { field: 'model', op: 'not_in', value: ['a', 'b'] },
      { not: { or: [{ field: 'has_error', op: 'eq', value: true }] } },
      { field: 'end_time', op: 'gt', value: '2026-11-01T00:00:00.5Z' },
      { field: 'attributes.n', op: 'gte', value: 3 },
      { field: 'output', op: 'exists' },
    ],
  }
  const order_by = [{ field: 'cost_usd', direction: 'asc' }]
  const body = { entity: 'observations', window, where, order_by, select: ['name'] }
  const { query } = querySchema.parse(body)
  const form = normalQuery(query)
  expect(form).toMatchObject({
    window: { from: '2026-11-01T00:00:00.000Z', to: '2026-11-08T00:00:00.000Z' },
    where: {
      and: [
        { field: 'model', op: 'ne', value: 'm' },
        { field: 'model', op: 'not_in', value: ['a', 'b'] },
        { not: { or: [{ field: 'has_error', op: 'eq', value: true }] } },
        { field: 'end_time', op: 'gt', value: '2026-11-01T00:00:00.500Z' },
        { field: 'attributes.n', op: 'gte', value: 3 },
        { field: 'output', op: 'exists', value: true },
      ],
    },
    order_by,
    limit: 50,
  })
  expect(normalQuery(querySchema.parse(form).query)).toEqual(form)
})

test('an aggregate by days of a time zone equals its parsed normal form', () => {
  const aggregate = aggregateSchema.parse({
    entity: 'observations',
    window,
    measures: [{ fn: 'count', as: 'n' }],
    group_by: [{ time_bucket: '2w', time_zone: 'Europe/Berlin' }],
  })
  const form = normalAggregate(aggregate)
  expect(form.group_by).toEqual([{ time_bucket: '2w', time_zone: 'Europe/Berlin' }])
  expect(aggregateSchema.parse(form)).toEqual(aggregate)
})

test.each(['190s', '5m', '2h', '1d', '7d', '1w', '2w'])(
  'an aggregate by %s equals its parsed normal form',
  (width) => {
    const aggregate = aggregateSchema.parse({
      entity: 'observations',
      window,
      measures: [
        { fn: 'count', as: 'n' },
        { fn: 'max', field: 'attributes.n', as: 'most' },
      ],
      group_by: ['model', { time_bucket: width }],
      having: { field: 'n', op: 'gt', value: 3 },
      order_by: [{ field: 'n' }],
    })
    const form = normalAggregate(aggregate)
    expect(form.measures[1]).toEqual({ fn: 'max', field: 'attributes.n', as: 'most' })
    expect(aggregateSchema.parse(form)).toEqual(aggregate)
  },
)

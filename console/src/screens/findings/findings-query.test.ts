import { expect, test } from 'vitest'
import { filterOf, whereOf, windowOf } from './findings-query.ts'

const now_ms = Date.parse('2026-11-29T12:00:30Z')

test('an open range ends with the running minute', () => {
  const filter = filterOf({ from: '-1h' }, now_ms)
  expect(windowOf(filter)).toEqual({
    from: '2026-11-29T11:00:00.000Z',
    to: '2026-11-29T12:01:00.000Z',
  })
})

test('a range that ends before it begins has one minute', () => {
  const search = { from: '2026-11-29T12:00:00Z', to: '2026-11-29T11:00:00Z' }
  expect(windowOf(filterOf(search, now_ms))).toEqual({
    from: '2026-11-29T10:59:00.000Z',
    to: '2026-11-29T11:00:00.000Z',
  })
})

test('filters become conditions; withdrawn findings are left out', () => {
  const filter = filterOf({ kind: 'loop', type: 'repeat_call', severity: 'high' }, now_ms)
  expect(whereOf(filter)).toEqual({
    and: [
      { field: 'state', op: 'ne', value: 'withdrawn' },
      { field: 'kind', op: 'eq', value: 'loop' },
      { field: 'type', op: 'eq', value: 'repeat_call' },
      { field: 'severity_number', op: 'gte', value: 4 },
    ],
  })
})

test('values that the API would refuse are left out', () => {
  const filter = filterOf({ kind: 'x', type: 'Robert"); --', severity: 'bad', by: 'id' }, now_ms)
  expect(filter).toMatchObject({
    kind: undefined,
    type: undefined,
    severity: undefined,
    by: 'kind',
  })
})

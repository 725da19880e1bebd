import { expect, test } from 'vitest'
import { bodyOfSaved, isSameQuery, readParameters } from './saved-body.ts'
import { firstValue, readValue, readValues, writeValue } from './values.ts'

const about = { required: false, default: null }
const parameters = [
  { name: 'user', type: 'text' as const, ...about, required: true },
  { name: 'calls', type: 'integer' as const, ...about, default: 3 },
  { name: 'models', type: 'texts' as const, ...about },
]

test('parameters are read by their types, with a message for each wrong one', () => {
  expect(readParameters(parameters, { user: 'u', calls: '2', models: 'a\nb\n' })).toEqual({
    values: { user: 'u', calls: 2, models: ['a', 'b'] },
    wrong: {},
  })
  expect(readParameters(parameters, { calls: '2.5' })).toEqual({
    values: {},
    wrong: { user: 'This run needs a value', calls: 'got 2.5, expected type integer' },
  })
})

test('a saved query gets the values of its parameters, and the defaults', () => {
  const body = {
    entity: 'tasks',
    window: { last: '24h' },
    where: {
      and: [
        { field: 'user_id', op: 'eq', value: { $param: 'user' } },
        { field: 'calls', op: 'gte', value: { $param: 'calls' } },
      ],
    },
  }
  expect(bodyOfSaved({ body, parameters }, { user: 'u-1' })).toEqual({
    window: { last: '24h' },
    body: {
      entity: 'tasks',
      where: {
        and: [
          { field: 'user_id', op: 'eq', value: 'u-1' },
          { field: 'calls', op: 'gte', value: 3 },
        ],
      },
    },
  })
  expect(bodyOfSaved({ body: { entity: 'spans' }, parameters }, {})).toHaveProperty('fault')
})

test('values are read by type, and written as they are typed', () => {
  expect([readValue('1.', 'float'), readValue('x', 'integer'), readValue('5', 'text')]).toEqual([
    ...[1, 'x', '5'],
  ])
  expect(readValues('1\n2\n', 'integer')).toEqual([1, 2])
  expect(writeValue(['a', 1])).toBe('a\n1')
  expect(writeValue({ $param: 'x' })).toBeUndefined()
})

test('a value follows a change of the operator', () => {
  expect(firstValue('in', 'text', 'a')).toEqual(['a'])
  expect(firstValue('eq', 'integer', [4, 5])).toBe(4)
  expect(firstValue('exists', 'text', 'a')).toBe(true)
  expect(firstValue('eq', 'text', true)).toBe('')
  expect(firstValue('eq', 'text', { $param: 'x' })).toEqual({ $param: 'x' })
})

test('queries are equal in any order of names, and not of lists', () => {
  expect(isSameQuery({ a: { b: 1, c: [1, 2] }, d: 2 }, { d: 2, a: { c: [1, 2], b: 1 } })).toBe(true)
  expect(isSameQuery({ a: [1, 2] }, { a: [2, 1] })).toBe(false)
})

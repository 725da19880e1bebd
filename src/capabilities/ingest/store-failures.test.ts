import { expect, test } from 'vitest'
import { problem } from '../../kernel/problem.ts'
import {
  ColumnarError,
  ColumnarUnavailable,
  RowBinaryError,
} from '../../platform/columnar/index.ts'
import { classifyFailure } from './store-failures.ts'

const columnar = (code: number) => new ColumnarError({ code, type: 'X', message: 'm' })
const sqlState = (code: string) => Object.assign(new Error('m'), { code })

test.each([
  ['the store says so', problem('store_unavailable'), 'outage'],
  ['as a cause', new Error('insert', { cause: problem('store_unavailable') }), 'outage'],
  ['ClickHouse is unavailable', new ColumnarUnavailable('m'), 'outage'],
  ['PostgreSQL is unavailable', sqlState('ECONNREFUSED'), 'outage'],
  ['PostgreSQL stops', sqlState('57P01'), 'outage'],
  ['a value out of range', columnar(407), 'refused'],
  ['a value that does not fit its column', new RowBinaryError('a', 0, 'too large'), 'refused'],
  ['a value as a cause', new Error('insert', { cause: columnar(27) }), 'refused'],
  ['an invalid text', sqlState('22021'), 'refused'],
  ['a broken check', sqlState('23514'), 'refused'],
  ['a missing table', columnar(60), 'unknown'],
  ['too little memory', columnar(241), 'unknown'],
  ['a missing column', sqlState('42703'), 'unknown'],
  ['another problem', problem('internal_error'), 'unknown'],
  ['a bug', new TypeError('m'), 'unknown'],
  ['no error at all', 'text', 'unknown'],
])('%s', (_name, error, kind) => {
  expect(classifyFailure(error)).toBe(kind)
})

test('circular causes end', () => {
  const error = new Error('a')
  error.cause = error
  expect(classifyFailure(error)).toBe('unknown')
})

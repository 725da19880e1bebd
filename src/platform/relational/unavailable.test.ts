import { expect, test } from 'vitest'
import { problem } from '../../kernel/problem.ts'
import { asStoreProblem, isRelationalUnavailable } from './unavailable.ts'

function withCode(code: string): Error {
  return Object.assign(new Error('x'), { code })
}

const ofTheStore = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  '08006',
  '08P01',
  '57P01',
  '57014',
  '55P03',
  '25P04',
  '53300',
]
const ofTheStatement = ['23505', '42601', '40001', 'ENOENT', '0800', '57P019']

test.each(ofTheStore)('%s means unavailable', (code) => {
  expect(isRelationalUnavailable(withCode(code))).toBe(true)
  const cause = withCode(code)
  expect(asStoreProblem(cause)).toMatchObject({ code: 'store_unavailable', status: 503, cause })
})

test('recognises a translated error, and does not translate it again', () => {
  const translated = asStoreProblem(withCode('57P01'))
  expect(isRelationalUnavailable(translated)).toBe(true)
  expect(asStoreProblem(translated)).toBe(translated)
  expect(isRelationalUnavailable(problem('store_unavailable'))).toBe(false)
})

test.each(ofTheStatement)('%s passes through', (code) => {
  const error = withCode(code)
  expect(asStoreProblem(error)).toBe(error)
})

test('values that are not errors pass through', () => {
  expect(asStoreProblem('57P01')).toBe('57P01')
  expect(asStoreProblem(undefined)).toBe(undefined)
})

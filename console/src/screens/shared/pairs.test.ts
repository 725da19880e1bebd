import { expect, test } from 'vitest'
import { formatPairs, parsePairs } from './pairs.ts'

test('pairs survive being written and read', () => {
  const pairs = { team: 'payments', rule: 'a=b' }
  expect(parsePairs(formatPairs(pairs))).toEqual(pairs)
  expect(formatPairs(undefined)).toBe('')
})

test('a name without a value stays, so that the API names the fault', () => {
  expect(parsePairs(' team , x = 1,')).toEqual({ team: '', x: '1' })
})

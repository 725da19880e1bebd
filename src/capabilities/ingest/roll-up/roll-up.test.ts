import { expect, test } from 'vitest'
import { isUuid } from '../../../kernel/ids.ts'
import { idsFrom } from './roll-up.ts'

test('the ids start with the given one, and each is a different UUID', () => {
  const first = '019a0000-0000-7000-8000-0000000000fe'
  const next = idsFrom(first)
  const ids = Array.from({ length: 1_000 }, next)
  expect(ids.slice(0, 3)).toEqual([
    first,
    '019a0000-0000-7000-8000-0000000000ff',
    '019a0000-0000-7000-8000-000000000100',
  ])
  expect(new Set(ids).size).toBe(1_000)
  expect(ids.every(isUuid)).toBe(true)
})

test('after the last number comes the first', () => {
  const next = idsFrom('019a0000-0000-7000-8000-ffffffffffff')
  expect([next(), next()]).toEqual([
    '019a0000-0000-7000-8000-ffffffffffff',
    '019a0000-0000-7000-8000-000000000000',
  ])
})

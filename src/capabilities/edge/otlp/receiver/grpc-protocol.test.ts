import { expect, test } from 'vitest'
import { timeoutOfMs } from './grpc-protocol.ts'

test.each<[string | undefined, number | undefined]>([
  ['10S', 10_000],
  ['9998m', 10_000],
  ['100000u', 100],
  ['1n', 100],
  ['1M', 60_000],
  ['2H', 7_200_000],
  ['0S', 0],
  ['99999999H', undefined],
  ['123456789S', undefined],
  ['-1S', undefined],
  ['10', undefined],
  ['', undefined],
  [undefined, undefined],
])('a grpc-timeout of %s is %s ms', (text, expected) => {
  expect(timeoutOfMs({ 'grpc-timeout': text })).toBe(expected)
})

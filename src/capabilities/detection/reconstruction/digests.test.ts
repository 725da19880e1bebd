import { expect, test } from 'vitest'
import { readArguments, sigOf } from './digests.ts'

test('the digest of a call is pinned, as digests are stored', () => {
  const { canonical, is_json } = readArguments(
    '{"b":[{"z":1.50,"a":null}],"10":true,"9":"é\\n\\u2028","B":{"y":{},"x":[]},' +
      '"a":-0,"__proto__":{"c":1,"b":2},"id":12345678901234567890}',
  )
  expect(is_json).toBe(true)
  expect(sigOf('search', canonical)).toBe('zaM2N7hpIr167UVw')
})

test('arguments that were encoded twice, or in another order, have the same digest', () => {
  const plain = readArguments('{"a":1,"b":[2]}')
  expect(readArguments(' { "b": [2], "a": 1.0 } ')).toEqual(plain)
  expect(readArguments(JSON.stringify('{"b":[2],"a":1}'))).toEqual(plain)
  expect(readArguments('{"a":1234567890123456}')).not.toEqual(plain)
})

test('numbers beyond the precision of a double differ by their digits', () => {
  const [one, other] = ['12345678901234567890', '12345678901234567891'].map(readArguments)
  expect(one?.canonical).not.toBe(other?.canonical)
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { masked_chars_max, maskVolatile, readArguments, sigOf } from './digests.ts'

test('pins the digest of a call, because digests are stored', () => {
  const { canonical, is_json } = readArguments(
    '{"b":[{"z":1.50,"a":null}],"10":true,"9":"é\\n\\u2028","B":{"y":{},"x":[]},' +
      '"a":-0,"__proto__":{"c":1,"b":2},"id":12345678901234567890}',
  )
  expect(is_json).toBe(true)
  expect(sigOf('search', canonical)).toBe('zaM2N7hpIr167UVw')
})

test('arguments encoded twice or in another order have the same digest', () => {
  const plain = readArguments('{"a":1,"b":[2]}')
  expect(readArguments(' { "b": [2], "a": 1.0 } ')).toEqual(plain)
  expect(readArguments(JSON.stringify('{"b":[2],"a":1}'))).toEqual(plain)
  expect(readArguments('{"a":1234567890123456}')).not.toEqual(plain)
})

test('numbers beyond the precision of a double differ by their digits', () => {
  const [one, other] = ['12345678901234567890', '12345678901234567891'].map(readArguments)
  expect(one?.canonical).not.toBe(other?.canonical)
})

describe('volatile tokens are masked', () => {
  test.each([
    ['at 2026-03-01T10:00:00.123Z', 'at 2026-03-02T11:12:13.9Z'],
    ['2026-03-01 10:00:00 +0100 up', '2026-03-05 10:20:00 +0100 up'],
    ['[10:00:01] ok', '[11:59:59] ok'],
    ['job 0b0c3d0e-1111-4222-8333-944455566677', 'job 9b0c3d0e-1111-4222-8333-944455566677'],
    ['sha 3f2a9c1b', 'sha 9f2a9c1bcc'],
    ['at 0x7ffe12 in main', 'at 0x7fff99 in main'],
    ['ts=1790000000', 'ts=1790000042123'],
    ['took 1.53s', 'took 12.2s'],
    ['real 0m1.2s', 'real 1m22.1s'],
    ['in 35 ms', 'in 3 ms'],
    ['pid 4242 runs', 'pid 7 runs'],
    ['req_8sdf7sdf9 failed', 'req_77sdf9f9f failed'],
    ['toolu_01A2b3C4d5 and tooluse_k9F2xQ', 'toolu_77zZyYxX99 and tooluse_P0qR7s8T'],
    ['"request_id":"abc12-9"', '"request_id":"zzz91-1"'],
    ['Chunk ID: 5661b8\nWall time: 0.2 seconds', 'Chunk ID: 09aa1f\nWall time: 1.1 seconds'],
  ])('%s', (a, b) => {
    expect(maskVolatile(a)).toBe(maskVolatile(b))
    expect(maskVolatile(a)).toContain('#')
  })
})

describe('meaningful tokens stay', () => {
  test.each([
    '12345678 rows',
    'page 3 of 17',
    'version 1.22.3',
    'a call_back_function and a request_handler',
    'exit code 1',
    'facade decade',
    'line 42, column 7',
    'progress 45 %',
  ])('%s', (text) => {
    expect(maskVolatile(text)).toBe(text)
  })
})

test('text beyond the limit is unchanged', () => {
  const text = `${'x'.repeat(masked_chars_max)} pid 42`
  expect(maskVolatile(text)).toBe(text)
})

test('masking is idempotent', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const masked = maskVolatile(text)
      expect(maskVolatile(masked)).toBe(masked)
    }),
  )
})

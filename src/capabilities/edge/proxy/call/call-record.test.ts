import { expect, test } from 'vitest'
import { formatNs, redactKey } from './call-record.ts'

test.each([
  [1_790_000_000_123, '1790000000123000000'],
  [1_790_000_000_000, '1790000000000000000'],
  [1_790_000_000_999.9995, '1790000000999999000'],
  [1_790_000_000_001.25, '1790000000001250000'],
  [0, '0000000000'],
])('%d ms are %s ns', (ms, text) => {
  expect(formatNs(ms)).toBe(text)
  expect(Number(BigInt(text)) / 1e6).toBeCloseTo(ms, 2)
})

const key = '7c1e9d4b2a8f4e0db35c6f9a1d2e8b40'
const failed = { failed: true, streamed: false }
const streamed = { failed: false, streamed: true }

test('every repetition of the key is redacted from an error', () => {
  const answer = Buffer.from(`{"error":"${key} is no key: ${key}"}`)
  const said = redactKey(answer, key, failed)
  expect(said.toString()).toBe('{"error":"[redacted] is no key: [redacted]"}')
  expect(answer.toString()).toContain(key)
})

test('a long error is searched from its beginning', () => {
  const said = redactKey(Buffer.from(key + '.'.repeat(10_000)), key, failed)
  expect(said.includes(key)).toBe(false)
  expect(said).toHaveLength('[redacted]'.length + 10_000)
})

test('an error at the end of a stream is found', () => {
  const answer = Buffer.from(`data: ${'.'.repeat(10_000)}\n\ndata: {"error":"${key}"}\n\n`)
  expect(redactKey(answer, key, streamed).includes(key)).toBe(false)
})

test('an answer without the key, or without an error, is returned unchanged', () => {
  const error = Buffer.from('{"error":"overloaded"}')
  expect(redactKey(error, key, failed)).toBe(error)
  const answer = Buffer.from(`{"choices":["${key}"]}`)
  expect(redactKey(answer, key, { failed: false, streamed: false })).toBe(answer)
})

test('a short word is not treated as a key', () => {
  const error = Buffer.from('{"error":"a test failed"}')
  expect(redactKey(error, 'test', failed)).toBe(error)
})

import { expect, test } from 'vitest'
import { nsText } from './call-facts.ts'

test.each([
  [1_790_000_000_123, '1790000000123000000'],
  [1_790_000_000_000, '1790000000000000000'],
  [1_790_000_000_999.9995, '1790000000999999000'],
  [1_790_000_000_001.25, '1790000000001250000'],
  [0, '0000000000'],
])('%d ms are %s ns', (ms, text) => {
  expect(nsText(ms)).toBe(text)
  expect(Number(BigInt(text)) / 1e6).toBeCloseTo(ms, 2)
})

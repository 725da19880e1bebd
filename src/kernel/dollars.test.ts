import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dollarsFrom, nanoDollarsFrom, shownDollars } from './dollars.ts'

test('formatting and parsing an amount returns the same amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (nano) => {
      expect(nanoDollarsFrom(dollarsFrom(nano))).toBe(nano)
    }),
  )
})

test.each([
  ['0.012500000', '0.0125'],
  ['0.000000000', '0'],
  ['12', '12'],
  ['-0.5', '-0.5'],
  ['0.000000001', '0.000000001'],
])('%s is shown as %s', (stored, expected) => {
  expect(shownDollars(stored)).toBe(expected)
})

test('rejects text that is not a decimal, and quotes it', () => {
  for (const text of ['', '1e-7', 'NaN', '1.0000000001', '.5']) {
    expect(() => nanoDollarsFrom(text)).toThrow(`"${text}" is no decimal`)
  }
})

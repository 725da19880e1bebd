import fc from 'fast-check'
import { expect, test } from 'vitest'
import { termsOf, tokenize, tokenizeAny } from './tokens.ts'

/** Texts of the characters that decide where words and numbers end. */
const ascii = fc.string({
  unit: fc.constantFrom(...'aZ5 0.,-_@[`{/:\n'),
  maxLength: 30,
})
const anyAscii = fc.string({ unit: 'binary-ascii', maxLength: 200 })

test('ASCII text has the terms that the pattern finds', () => {
  fc.assert(
    fc.property(fc.oneof(ascii, anyAscii), (text) => {
      expect(tokenize(text)).toEqual(tokenizeAny(text))
      expect(termsOf(text)).toEqual(tokenizeAny(text).map(({ term }) => term))
    }),
    { numRuns: 2_000 },
  )
})

test('a word goes on with digits, and a number ends before a letter', () => {
  const terms = (text: string) => tokenize(text).map(({ term }) => term)
  expect(terms('V5 costs 1,200.50 euros, 3rd. 7.')).toEqual([
    ...['v5', 'cost', '1200.5', 'euro', '3', 'rd', '7'],
  ])
  expect(terms('Café 1 200')).toEqual(['caf', '1', '200'])
})

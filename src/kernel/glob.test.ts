import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob } from './glob.ts'

test.each([
  ['gpt-4o', 'gpt-*', true],
  ['gpt-4o', '*4?', true],
  ['gpt-4o', 'gpt', false],
  ['', '*', true],
  ['', '?', false],
  ['a*b', 'a*b', true],
  ['abc', 'a.c', false],
  ['\u{1f600}', '?', true],
  ['\u{1f600}', '??', false],
  ['a\u{1f600}b', 'a?b', true],
])('%j matches %j: %s', (text, glob, isMatch) => {
  expect(matchesGlob(text, glob)).toBe(isMatch)
})

test('agrees with a regular expression', () => {
  const letters = (of: string[]) => fc.array(fc.constantFrom(...of), { maxLength: 8 })
  fc.assert(
    fc.property(letters(['a', 'b']), letters(['a', 'b', '*', '?']), (text, glob) => {
      const source = glob.map((one) => ({ '*': '.*', '?': '.' })[one] ?? one).join('')
      const isMatch = new RegExp(`^${source}$`).test(text.join(''))
      expect(matchesGlob(text.join(''), glob.join(''))).toBe(isMatch)
    }),
    { numRuns: 2000 },
  )
})

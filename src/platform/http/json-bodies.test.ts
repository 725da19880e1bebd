import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDeeper } from './json-bodies.ts'

/** Returns the levels of lists and objects of a value. */
function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf))
}

test('a body is deeper than a number of levels as its value is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.nat(8), fc.nat(2), (value, levels, spaces) => {
      const bytes = Buffer.from(JSON.stringify(value, null, spaces))
      expect(isDeeper(bytes, levels)).toBe(levelsOf(value) > levels)
    }),
  )
})

test('brackets in texts and keys count for nothing, also behind escaped quotes', () => {
  for (const text of ['[[[[', '"[[[[', '\\"[[[[', '\\\\[[[[']) {
    expect(isDeeper(Buffer.from(JSON.stringify({ [text]: text })), 1)).toBe(false)
  }
  expect(isDeeper(Buffer.from('['.repeat(129)), 128)).toBe(true)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toStorableJson, toStorableText } from './new-findings.ts'

test('text is storable in PostgreSQL', () => {
  expect(toStorableText('a\u0000b')).toBe('a\uFFFDb')
  expect(toStorableText('half \uD800 of a pair')).toBe('half \uFFFD of a pair')
  expect(toStorableText('whole 🦊')).toBe('whole 🦊')
})

test('converts values that JSON does not have', () => {
  expect(
    toStorableJson({ n: 12n, no: undefined, inf: Infinity, list: [undefined, 'a\u0000'] }),
  ).toEqual({
    n: '12',
    inf: null,
    list: [null, 'a\uFFFD'],
  })
})

test('cuts deep nesting', () => {
  const nested: Record<string, unknown> = {}
  nested['again'] = nested
  expect(JSON.stringify(toStorableJson(nested)).length).toBeLessThan(1_000)
})

test('any JSON comes out without U+0000 and lone surrogates', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = JSON.stringify(toStorableJson(value))
      expect(text).not.toContain('\\u0000')
      expect(text).not.toMatch(/\\ud[89a-f]/)
    }),
  )
})

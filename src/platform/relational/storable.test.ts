import fc from 'fast-check'
import { expect, test } from 'vitest'
import { storableJson, storableText } from './storable.ts'

const units = fc.string({
  unit: fc.constantFrom('\\', 'u', '0000', 'd800', '\u0000', '\ud83d', '\ude00', '"', 'é', '\n'),
})

test('texts keep their length, and lose only what PostgreSQL cannot store', () => {
  fc.assert(
    fc.property(units, (text) => {
      const stored = storableText(text)
      expect(stored).toHaveLength(text.length)
      expect(stored.isWellFormed() && !stored.includes('\u0000')).toBe(true)
      if (text.isWellFormed() && !text.includes('\u0000')) expect(stored).toBe(text)
    }),
  )
})

test('JSON reads back with the same replacements in strings and keys', () => {
  fc.assert(
    fc.property(units, units, (key, text) => {
      const stored = storableJson({ [`k${key}`]: [text] })
      expect(JSON.parse(stored)).toEqual({ [`k${storableText(key)}`]: [storableText(text)] })
    }),
  )
})

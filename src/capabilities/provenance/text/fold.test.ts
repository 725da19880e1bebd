import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compact, foldCompact, foldedText, foldText, toOriginal } from './fold.ts'

const char = fc.constantFrom('a', 'Z', '7', '-', ' ', '_', 'İ', 'ﬁ', 'Σ', '½', '😀', '\ud800', '…')
const ascii = fc.constantFrom(...'aZ7 \n\t\u001f_*`"\'-')
const texts = fc.oneof(
  fc.array(ascii, { maxLength: 30 }).map((chars) => chars.join('')),
  fc.array(char, { maxLength: 30 }).map((chars) => chars.join('')),
  fc.string({ unit: 'binary', maxLength: 30 }),
)

test('compact text is the same with and without offsets', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(compact(text)).toBe(foldCompact(text).text)
    }),
  )
})

test('folded text is the same with and without offsets', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(foldedText(text)).toBe(foldText(text).text)
    }),
    { numRuns: 1_000 },
  )
})

test('each folded unit comes from the characters that fold to it', () => {
  fc.assert(
    fc.property(texts, (text) => {
      for (const folded of [foldText(text), foldCompact(text)]) {
        for (let at = 0; at < folded.text.length; at += 1) {
          const original = text.slice(...toOriginal(folded, [at, at + 1]))
          expect(original.length).toBeGreaterThan(0)
          const again = folded.text === foldCompact(text).text ? foldCompact : foldText
          expect(again(`x${original}`).text).toContain(folded.text[at])
        }
      }
    }),
  )
})

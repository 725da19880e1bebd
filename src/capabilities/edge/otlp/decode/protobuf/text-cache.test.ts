import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IdCache, maxCachedTextBytes, TextCache } from './text-cache.ts'

test('texts equal their bytes with any content of the cache', () => {
  // Two places only: every text meets others in its place.
  const cache = new TextCache(2)
  const ascii = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\0'), maxLength: 9 })
  fc.assert(
    fc.property(fc.array(ascii, { maxLength: 40 }), (texts) => {
      const bytes = Buffer.from(texts.join(''))
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      let at = 0
      for (const text of texts) {
        expect(cache.text(bytes, view, at, at + text.length)).toBe(text)
        at += text.length
      }
    }),
  )
})

test('text with a non-ASCII byte at any position is not cached', () => {
  const cache = new TextCache(16)
  for (let length = 1; length <= maxCachedTextBytes; length++) {
    for (let at = 0; at < length; at++) {
      const bytes = Buffer.alloc(length, 'x')
      bytes[at] = 0xe9
      const view = new DataView(bytes.buffer, bytes.byteOffset, length)
      expect(cache.text(bytes, view, 0, length)).toBeUndefined()
    }
  }
})

test('ids equal their bytes in any order', () => {
  const ids = new IdCache()
  const parts = fc.uint8Array({ minLength: 16, maxLength: 16, max: 2 })
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 30 }), (all) => {
      for (const id of all) {
        const bytes = Buffer.from(id)
        const view = new DataView(bytes.buffer, bytes.byteOffset, 16)
        const hex = bytes.toString('hex')
        expect(ids.traceId(bytes, view, 0).replaceAll('-', '')).toBe(noneIfZero(hex))
        expect(ids.spanId(bytes, view, 8)).toBe(noneIfZero(hex.slice(16)))
      }
    }),
  )
})

function noneIfZero(hex: string): string {
  return /^0+$/.test(hex) ? '' : hex
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

test('the bytes are pinned, because digests of them are stored', () => {
  const text =
    '{"b":[{"z":1.50,"a":null}],"10":true,"9":"é\\n\\u2028","B":{"y":{},"x":[]},' +
    '"a":-0,"__proto__":{"c":1,"b":2},"😀":1,"\\uffff":2}'
  expect(canonicalJson(JSON.parse(text))).toBe(
    '{"9":"é\\n\u2028","10":true,"B":{"x":[],"y":{}},"__proto__":{"b":2,"c":1},' +
      '"a":0,"b":[{"a":null,"z":1.5}],"😀":1,"\uffff":2}',
  )
})

test('values outside JSON are written as JSON.stringify writes them', () => {
  const value = { b: undefined, a: [undefined, Number.NaN], at: new Date(0) }
  expect(canonicalJson(value)).toBe('{"a":[null,null],"at":"1970-01-01T00:00:00.000Z"}')
})

test('an object that writes its own JSON has sorted keys', () => {
  const value = { a: { toJSON: () => ({ z: 1, y: 2 }) } }
  expect(canonicalJson(value)).toBe('{"a":{"y":2,"z":1}}')
})

test('the order of keys changes nothing, and the value stays the same', () => {
  const reversed = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(reversed)
    const entries = Object.entries(value).reverse()
    return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]))
  }
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value: unknown = JSON.parse(text)
      const canonical = canonicalJson(value)
      expect(canonicalJson(reversed(value))).toBe(canonical)
      expect(JSON.parse(canonical)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

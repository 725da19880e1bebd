import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitHidden } from './printable.ts'

const shown = (text: string) => splitHidden(text).map((part) => part.text)

test('hidden characters become visible escapes', () => {
  expect(shown('access\u202e\u2066// check\u2069')).toEqual([
    ...['access', 'U+202E', 'U+2066', '// check', 'U+2069'],
  ])
  expect(shown('a\u200bb\u0000c')).toEqual(['a', 'U+200B', 'b', 'U+0000', 'c'])
  expect(shown('tag\u{e0041}')).toEqual(['tag', 'U+E0041'])
})

test('lines, tabs, other scripts and joined pictures stay as they are', () => {
  for (const text of ['two\nlines\t', 'שלום', '日本語', '👩‍💻 works', 'né']) {
    expect(shown(text)).toEqual([text])
  }
})

test('every part comes from its place, and only escapes change the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const rebuilt = splitHidden(text).map(({ text: part, isEscape }) =>
        isEscape ? String.fromCodePoint(Number.parseInt(part.slice(2), 16)) : part,
      )
      expect(rebuilt.join('')).toBe(text)
    }),
  )
})

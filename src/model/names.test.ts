import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { replaceInvisible, withoutInvisible } from './names.ts'

const name = z.string().refine(...withoutInvisible)
const messageOf = (text: string) => name.safeParse(text).error?.issues[0]?.message

/** Every code point of a range. */
function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

describe('a name with an invisible character', () => {
  test.each<[string, ...number[][]]>([
    ['controls', range(0x00, 0x1f), range(0x7f, 0x9f)],
    ['soft hyphen', [0xad]],
    ['zero-width characters and marks', range(0x200b, 0x200f)],
    ['line ends', [0x2028, 0x2029]],
    ['embeddings and overrides', range(0x202a, 0x202e)],
    ['invisible operators', range(0x2060, 0x2064)],
    ['isolates', range(0x2066, 0x2069), [0x061c]],
    ['byte order mark', [0xfeff]],
    ['fillers that look like nothing', [0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x034f, 0x180e]],
    ['annotations', range(0xfff9, 0xfffb)],
    ['variation selectors', range(0xfe00, 0xfe0f), range(0xe0100, 0xe01ef)],
    ['tags', range(0xe0000, 0xe007f)],
  ])('is refused: %s', (_, ...ranges) => {
    for (const code of ranges.flat()) {
      const hex = code.toString(16).toUpperCase().padStart(4, '0')
      expect(messageOf(`p${String.fromCodePoint(code)}d`)).toBe(
        `got the invisible character U+${hex} at position 2, expected visible text on one line`,
      )
    }
  })

  test('is counted in characters, not in UTF-16 units', () => {
    expect(messageOf('🚀🚀\u200b')).toContain('U+200B at position 3')
  })
})

test.each(['Müller & Söhne', '支払い', 'מחלקה', 'خدمة العملاء', 'हिन्दी', 'a b', '❤️ support', '🚀'])(
  '%s is a name',
  (text) => {
    expect(messageOf(text)).toBeUndefined()
    expect(replaceInvisible(text)).toBe(text)
  },
)

test('the name of another system is cleaned', () => {
  expect(replaceInvisible('ad\u202ea\u{e0041}')).toBe('ad a ')
})

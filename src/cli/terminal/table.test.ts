import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Column, tableOf } from './table.ts'
import { widthOf } from './terminal-text.ts'

/** A terminal of a width that writes styles as `<red>…</red>`. */
const terminal = (columns: number | undefined) => ({
  columns: () => columns,
  styled: (style: string, text: string) => `<${style}>${text}</${style}>`,
})

test('columns have the width of their widest cell; the last one is not padded', () => {
  const table = tableOf(
    ['A', { heading: 'N', align: 'right' }, 'B'],
    [
      ['x', '1', 'y'],
      ['long', '1,000', ''],
    ],
  )
  expect(table).toBe('A          N   B\nx          1   y\nlong   1,000\n')
})

test('wide letters take two columns, combining marks none', () => {
  const table = tableOf(
    ['A', 'B'],
    [
      ['日本', '1'],
      ['e\u0301', '2'],
      ['👍', '3'],
    ],
  )
  expect(table).toBe('A      B\n日本   1\ne\u0301      2\n👍     3\n')
})

const verdicts: Column[] = [
  { heading: 'TASK', shrinks_to: 4 },
  { heading: 'COST', align: 'right' },
  { heading: 'VERDICT', shrinks_to: 10, below: true },
]
const rows = [['a-long-task', '$1', 'it went quite wrong']]

test('without a terminal nothing is cut', () => {
  expect(tableOf(verdicts, rows)).toBe(
    'TASK          COST   VERDICT\na-long-task     $1   it went quite wrong\n',
  )
})

test('the widest columns are cut first, until a line fits', () => {
  expect(tableOf(verdicts, rows, { io: terminal(34) })).toBe(
    'TASK          COST   VERDICT\na-long-task     $1   it went quit…\n',
  )
})

test('the last column is printed below the row if it does not fit beside the others', () => {
  expect(tableOf(verdicts, rows, { io: terminal(20) })).toBe(
    'TASK          COST\na-long-task     $1\n  it went quite wro…\n',
  )
  expect(tableOf(verdicts, rows, { io: terminal(14) })).toBe(
    'TASK      COST\na-long…     $1\n  it went qui…\n',
  )
})

test('only the text of a cell is styled, so that lines end with it', () => {
  const cells = [
    [
      { text: 'x', style: 'red' as const },
      { text: 'y', style: 'bold' as const },
    ],
  ]
  expect(tableOf(['AB', 'CD'], cells, { io: terminal(80) })).toBe(
    'AB   CD\n<red>x</red>    <bold>y</bold>\n',
  )
  expect(tableOf(['AB', 'CD'], cells)).toBe('AB   CD\nx    y\n')
})

test('texts below a row are cut to a line, or wrapped', () => {
  const row = (wraps: boolean) => [
    { cells: ['1'], below: [{ text: 'one two three\nfour', wraps }] },
  ]
  const io = terminal(11)
  expect(tableOf(['A'], row(false), { io })).toBe('A\n1\n  one two…\n')
  expect(tableOf(['A'], row(true), { io })).toBe('A\n1\n  one two\n  three\n  four\n')
})

describe('a terminal', () => {
  const esc = '\u001b'
  test.each([
    ['colours', `${esc}[31mred`, '\\u001b[31mred'],
    ['a title', `${esc}]0;owned\u0007`, '\\u001b]0;owned\\u0007'],
    ['a link', `${esc}]8;;https://evil${esc}\\click`, '\\u001b]8;;https://evil\\u001b\\click'],
    ['a C1 control', '\u009b31m', '\\u009b31m'],
    ['an overwritten line', 'safe\revil', 'safe\\u000devil'],
    ['a backspace', 'a\bb', 'a\\u0008b'],
    ['reversed text', '\u202egnp.exe', '\\u202egnp.exe'],
    ['an isolate', 'a\u2066b', 'a\\u2066b'],
    ['an invisible tag', 'a\u{e0041}b', 'a\\udb40\\udc41b'],
    ['several lines', 'a\nb\tc', 'a ⏎ b c'],
  ])('gets no %s from a cell', (_, hostile, shown) => {
    expect(tableOf(['A'], [[hostile]])).toBe(`A\n${shown}\n`)
    expect(tableOf(['A'], [{ cells: [''], below: [{ text: hostile }] }])).toBe(`A\n\n  ${shown}\n`)
  })

  test('gets whole lines that fit, with any cells', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 40 })
    const least = 4
    fc.assert(
      fc.property(
        fc.array(fc.tuple(texts, texts, texts), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 24, max: 120 }),
        (given, width) => {
          const columns: Column[] = ['A', 'B', 'C'].map((heading) => ({
            heading,
            shrinks_to: least,
          }))
          const cells = given.map(([a, b, c]) => ({
            cells: [a, b, c],
            below: [{ text: a }, { text: b, wraps: true }],
          }))
          const plain = { columns: () => width, styled: (_: string, text: string) => text }
          const lines = tableOf(columns, cells, { io: plain }).split('\n')
          for (const line of lines) {
            expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
            expect(widthOf(line)).toBeLessThanOrEqual(width)
          }
        },
      ),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Arguments, UsageError } from '../command.ts'
import { parametersOf, readQueryText, rowsCsv, rowsTable, windowFrom } from './query.ts'

const now_ms = () => Date.parse('2026-11-29T12:00:00Z')

const given = (options: Record<string, string>): Arguments => ({
  words: [],
  flag: () => false,
  value: (name) => options[name],
  values: () => [],
})

describe('a query', () => {
  test('is JSON or YAML', () => {
    const body = { entity: 'tasks', where: { field: 'calls', op: 'gte', value: 3 } }
    expect(readQueryText(JSON.stringify(body), 'q')).toEqual(body)
    expect(readQueryText('entity: tasks\nwhere: {field: calls, op: gte, value: 3}', 'q')).toEqual(
      body,
    )
  })

  test.each(['', '[]', 'tasks', '{"entity', '3'])('is not %j', (text) => {
    expect(() => readQueryText(text, 'q')).toThrow(UsageError)
  })
})

describe('the window', () => {
  test.each<[Record<string, string>, unknown]>([
    [{}, undefined],
    [{ last: '24h' }, { from: '2026-11-28T12:00:00.000Z', to: '2026-11-29T12:00:00.000Z' }],
    [{ from: '2h' }, { from: '2026-11-29T10:00:00.000Z', to: '2026-11-29T12:00:00.000Z' }],
    [
      { from: '2026-11-01T00:00:00+01:00', to: '1d' },
      { from: '2026-10-31T23:00:00.000Z', to: '2026-11-28T12:00:00.000Z' },
    ],
  ])('of %j', (options, window) => {
    expect(windowFrom(given(options), { now_ms })).toEqual(window)
  })

  test.each([
    [{ last: '24h', to: '1h' }, 'got --last with --from or --to'],
    [{ to: '1h' }, 'got --to without --from'],
    [{ last: 'soon' }, '--last: got "soon", expected a duration such as 15m, 24h or 7d'],
    [{ from: 'today' }, '--from: got "today", expected an instant such as'],
    [{ from: '2026-13-01' }, '--from: got "2026-13-01"'],
  ])('of %j is refused', (options, message) => {
    expect(() => windowFrom(given(options), { now_ms })).toThrow(message)
  })
})

test('parameters of a saved query are JSON, or text', () => {
  expect(parametersOf(['user=u-1', 'least=3', 'ids=["a"]', 'text=a=b', 'none='])).toEqual({
    ...{ user: 'u-1', least: 3, ids: ['a'], text: 'a=b', none: '' },
  })
  expect(() => parametersOf(['user'])).toThrow('--param: got "user", expected name=value')
})

test('a table has numbers on the right, nothing for unknown values and JSON for lists', () => {
  const columns = [
    { name: 'model', type: 'text' },
    { name: 'n', type: 'integer' },
    { name: 'models', type: 'list' },
  ]
  const rows = [
    { model: 'a', n: 10, models: ['x'] },
    { model: null, n: 5, models: [] },
  ]
  const io = { columns: () => undefined, styled: (_: string, text: string) => text }
  expect(rowsTable(columns, rows, io)).toBe(
    'MODEL    N   MODELS\na       10   ["x"]\n         5   []\n',
  )
})

describe('CSV', () => {
  const columns = [
    { name: 'a', type: 'text' },
    { name: 'b', type: 'text' },
  ]
  const file = { columns: () => undefined }

  test('quotes what has to be quoted', () => {
    expect(rowsCsv(columns, [{ a: 'x, "y"\nz', b: 1 }], file)).toBe('a,b\r\n"x, ""y""\nz",1\r\n')
  })

  test.each(['=1+1', '@SUM(A1)', '+cmd', '-x', '\tx'])(
    '%j is written as text and not as a formula',
    (text) => {
      expect(rowsCsv(columns, [{ a: text, b: -1.5 }], file)).toContain(`'${text}`)
      expect(rowsCsv(columns, [{ a: text, b: -1.5 }], file)).toContain(',-1.5')
    },
  )

  test('a terminal gets no control characters', () => {
    const text = rowsCsv(columns, [{ a: '\u001b[31m', b: '\u202e' }], { columns: () => 80 })
    expect(text).toBe('a,b\r\n\\u001b[31m,\\u202e\r\n')
  })

  test('a reader finds the texts again', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ') })
    fc.assert(
      fc.property(fc.array(fc.tuple(texts, texts)), (pairs) => {
        const rows = pairs.map(([a, b]) => ({ a, b }))
        const read = readCsv(rowsCsv(columns, rows, file)).slice(1)
        const expected = pairs.map((pair) =>
          pair.map((one) => (one.startsWith('\r') ? `'${one}` : one)),
        )
        expect(read).toEqual(expected)
      }),
    )
  })
})

/** A reader of RFC 4180, by a pattern for each field and its end. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, field = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)) {
    const isQuoted = field.startsWith('"')
    rows.at(-1)?.push(isQuoted ? field.slice(1, -1).replaceAll('""', '"') : field)
    if (end !== ',') rows.push([])
  }
  return rows.slice(0, -1)
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chartRows } from './chart-rows.ts'
import { bucketWidth, recordsOf, widthFor } from './drill.ts'
import { csvCell, readAll, toCsv, toNdjson } from './export-rows.ts'

/** Reads CSV as RFC 4180 says, without regard to how it was written. */
function parseCsv(text: string): string[][] {
  const lines: string[][] = [[]]
  let [cell, isQuoted] = ['', false]
  const end = () => lines.at(-1)?.push(cell)
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text[at + 1] === '"') [cell, at] = [`${cell}"`, at + 1]
      else isQuoted = false
      continue
    }
    if (character === '"') isQuoted = true
    else if (character === ',') [, cell] = [end(), '']
    else if (character === '\r' && text[at + 1] === '\n') {
      end()
      lines.push([])
      ;[cell, at] = ['', at + 1]
    } else cell += character
  }
  return lines.slice(0, -1)
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'=+-@"\',;\t\r\n |%1a') }),
)

test('CSV reads back as the same cells, and no text begins like a formula', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(hostile, hostile), { minLength: 1 }), (pairs) => {
      const rows = pairs.map(([a, b]) => ({ a, b }))
      const [head, ...cells] = parseCsv(toCsv(['a', 'b'], rows))
      expect(head).toEqual(['a', 'b'])
      expect(cells).toHaveLength(rows.length)
      for (const [at, [a = '', b = '']] of cells.entries()) {
        for (const [cell, text] of [
          [a, rows[at]?.a],
          [b, rows[at]?.b],
        ] as const) {
          expect([text, `'${text}`]).toContain(cell)
          const isNumber = /^-?\d+(\.\d+)?$/.test(cell)
          expect(isNumber || !/^\s*[=+\-@]/.test(cell)).toBe(true)
        }
      }
    }),
  )
})

test.each([
  [null, ''],
  [-5, '-5'],
  ['-0.000000001', '-0.000000001'],
  ['=1+1', `"'=1+1"`],
  ['-1+cmd|x', `"'-1+cmd|x"`],
  ['\u{ff1d}1', `"'\u{ff1d}1"`],
  [['a', 'b'], '"[""a"",""b""]"'],
  [true, 'true'],
])('%j is the cell %s', (value, cell) => {
  expect(csvCell(value)).toBe(cell)
})

test('NDJSON is a JSON object a line, with any texts', () => {
  const rows = [{ a: 'x\ny' }, { a: '\u2028' }]
  const lines = toNdjson(rows).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual(rows)
})

test('an export reads all pages up to its bound', async () => {
  const pages = (count: number, size: number) => (cursor: string | undefined) => {
    const from = Number(cursor ?? 0)
    const rows = Array.from({ length: Math.min(size, count - from) }, (_, at) => ({ n: from + at }))
    return Promise.resolve({ rows, next_cursor: from + size < count ? String(from + size) : null })
  }
  const counts: number[] = []
  const about = { rows_max: 25, onRows: (count: number) => counts.push(count) }
  const whole = await readAll(pages(25, 10), about)
  expect([whole.rows.map(({ n }) => n), whole.isCut]).toEqual([[...Array(25).keys()], false])
  expect(counts).toEqual([10, 20, 25])
  const cut = await readAll(pages(26, 10), about)
  expect([cut.rows.length, cut.isCut]).toEqual([25, true])
})

test('rows by time become series, the largest first, with gaps', () => {
  const [one, two] = ['2026-11-29T10:00:00Z', '2026-11-29T11:00:00Z']
  const rows = [
    { time_bucket: two, model: 'a', cost: '0.5' },
    { time_bucket: one, model: 'b', cost: '2' },
    { time_bucket: two, model: 'b', cost: null },
    { time_bucket: one, model: null, other: true, cost: 1 },
  ]
  expect(chartRows(rows, { groups: ['model'], measures: ['cost'] })).toEqual({
    x: [Date.parse(one), Date.parse(two)],
    series: [
      { name: 'b', values: [2, null] },
      { name: 'all others', values: [1, null] },
      { name: 'a', values: [null, 0.5] },
    ],
    left_out: 0,
  })
  const many = Array.from({ length: 11 }, (_, n) => ({ time_bucket: one, model: `m${n}`, cost: n }))
  const shown = chartRows(many, { groups: ['model'], measures: ['cost'] })
  expect([shown.series.length, shown.left_out, shown.series[0]?.name]).toEqual([8, 3, 'm10'])
})

test('a row of an aggregate leads to its records', () => {
  const body = {
    entity: 'observations' as const,
    where: { field: 'is_call', op: 'eq' as const, value: true },
    measures: [{ fn: 'count' as const, as: 'n' }],
    group_by: ['model', 'user_id', { time_bucket: '1h' }],
  }
  const row = { model: 'gpt', user_id: null, time_bucket: '2026-11-29T10:00:00.000Z', n: 3 }
  expect(recordsOf(body, row)).toEqual({
    body: {
      entity: 'observations',
      where: {
        and: [
          body.where,
          { field: 'model', op: 'eq', value: 'gpt' },
          { field: 'user_id', op: 'exists', value: false },
        ],
      },
    },
    window: { from: '2026-11-29T10:00:00.000Z', to: '2026-11-29T11:00:00.000Z' },
  })
  expect(recordsOf(body, { other: true })).toBeUndefined()
})

test('a day of a time zone has the hours of its clocks', () => {
  const group_by = [{ time_bucket: '1d', time_zone: 'Europe/Berlin' }]
  const body = { entity: 'observations' as const, group_by }
  const row = { time_bucket: '2026-10-24T22:00:00.000Z' }
  expect(recordsOf(body, row)?.window).toEqual({
    from: '2026-10-24T22:00:00.000Z',
    to: '2026-10-25T23:00:00.000Z',
  })
})

test('buckets fit the window', () => {
  const of = (hours: number) => ({
    from: '2026-11-01T00:00:00Z',
    to: new Date(Date.parse('2026-11-01T00:00:00Z') + hours * 3_600_000).toISOString(),
  })
  expect([0.25, 1, 24, 168, 720, 20_000].map((hours) => widthFor(of(hours)))).toEqual([
    ...['1m', '1m', '1h', '3h', '12h', '1w'],
  ])
  expect([bucketWidth('5m'), bucketWidth('x')]).toEqual([300_000, undefined])
})

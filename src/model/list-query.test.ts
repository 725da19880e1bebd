import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  checkWindow,
  cursorAt,
  flagParameter,
  instantParameter,
  limitParameter,
  orderParameter,
  positionIn,
  type SortedList,
  textParameter,
} from './list-query.ts'

const instant = instantParameter('')
const faultOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues[0]?.message

test.each([
  ['1970-01-01T00:00:00Z', 0n],
  ['2026-02-03T04:05:06.123456789Z', 1_770_091_506_123_456_789n],
  ['2026-02-03T04:05:06.5+02:00', 1_770_084_306_500_000_000n],
])('the instant %s is %s ns', (text, expected) => {
  expect(instant.parse(text)).toBe(expected)
})

test.each(['', '2026', '1969-12-31T23:59:59Z', '2262-01-01T00:00:00Z', '2026-13-01T00:00:00Z'])(
  'rejects and quotes the instant "%s"',
  (text) => {
    expect(faultOf(instant, text)).toContain(`got "${text}", expected an ISO 8601 instant`)
  },
)

test('a limit is a whole number from 1 to 1,000, 50 by default', () => {
  expect(limitParameter.parse(undefined)).toBe(50)
  expect(limitParameter.parse('1000')).toBe(1000)
  for (const text of ['0', '1001', '-1', '1.5', '1e2', '', ' 5', 'ten', '9'.repeat(30)]) {
    expect(faultOf(limitParameter, text)).toBe(
      `got ${JSON.stringify(text)}, expected an integer from 1 to 1000`,
    )
  }
})

test('other parameters quote the rejected value', () => {
  expect(flagParameter('').parse('false')).toBe(false)
  expect(faultOf(flagParameter(''), 'yes')).toBe('got "yes", expected true or false')
  expect(faultOf(orderParameter, 'up')).toBe('got "up", expected asc or desc')
  expect(faultOf(textParameter(''), 'a\u0000')).toBe('got "a\\u0000", expected text without U+0000')
})

test('a window must have its end after its start', () => {
  expect(() => checkWindow({ from: 1n, to: 2n })).not.toThrow()
  expect(() => checkWindow({ to: 2n })).not.toThrow()
  expect(() => checkWindow({ from: 2n, to: 2n })).toThrow('expected an instant before to')
})

test('the OpenAPI document has the types integer and date-time for text in a query', () => {
  const schema = z.toJSONSchema(z.strictObject({ limit: limitParameter, instant }), {
    io: 'input',
    unrepresentable: 'any',
  })
  expect(schema).toMatchObject({
    properties: {
      limit: { type: 'integer', description: 'Maximum items per page, 1–1,000. Default: 50.' },
      instant: { type: 'string', format: 'date-time' },
    },
  })
  expect(schema.required ?? []).toEqual([])
})

describe('a cursor', () => {
  const byCost: SortedList = { list: 'tasks', sort: 'cost_usd', kind: 'decimal', order: 'desc' }
  const cursor = cursorAt(byCost, { value: '0.5', id: 'x' })
  const anyId = () => true

  test('contains the position', () => {
    expect(positionIn(byCost, cursor, anyId)).toEqual({ value: '0.5', id: 'x' })
  })

  test('of another list, sort or order is rejected', () => {
    for (const other of [{ list: 'x' }, { sort: 'calls' }, { order: 'asc' as const }]) {
      expect(() => positionIn({ ...byCost, ...other }, cursor, anyId)).toThrow('cursor: got')
    }
  })

  test('with a value of another kind or an invalid id is rejected', () => {
    const forged: [SortedList['kind'], string | number][] = [
      ['decimal', '1e9'],
      ['decimal', 5],
      ['count', '5'],
      ['count', 1.5],
      ['instant', 'now'],
    ]
    for (const [kind, value] of forged) {
      const list = { ...byCost, kind }
      const made = cursorAt(list, { value, id: 'x' })
      expect(() => positionIn(list, made, anyId)).toThrow('expected an unchanged next_cursor')
    }
    expect(() => positionIn(byCost, cursor, () => false)).toThrow(
      'expected an unchanged next_cursor',
    )
  })
})

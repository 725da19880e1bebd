import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSeries } from '../../../test/support/incidents/series.ts'
import { NotationError, parseSeriesName, parseValues } from './series.ts'

/** The examples of promtool's documentation, and its grammar. */
test.each([
  ['-2+4x3', [-2, 2, 6, 10]],
  [' 1-2x4', [1, -1, -3, -5, -7]],
  [' 1x4', [1, 1, 1, 1, 1]],
  [' 1 _x3 stale', [1, null, null, null, null]],
  ['1 _ 2', [1, null, 2]],
  ['0x2', [0, 0, 0]],
  ['5x0', [5]],
  ['5+1x0', [5]],
  ['_x0', []],
  ['stalex1', [null, null]],
  ['1e3 .5 -.5 +2 1.', [1000, 0.5, -0.5, 2, 1]],
  ['0+0.1x3', [0, 0.1, 0.2, 0.30000000000000004]],
  ['1\n2\t3', [1, 2, 3]],
  ['', []],
])('%j', (text, values) => {
  expect(parseValues(text)).toEqual(values)
})

test.each([
  ['x3', '"x3"'],
  ['1x', '"1x"'],
  ['1x-2', '"1x-2"'],
  ['1+-2x3', '"1+-2x3"'],
  ['1*2x3', '"1*2x3"'],
  ['1+2', '"1+2"'],
  ['stale+1x2', '"stale+1x2"'],
  ['NaN', '"NaN"'],
  ['Inf', '"Inf"'],
  ['1e999', 'finite'],
  ['0x10 one', '"one"'],
  ['1,2', '"1,2"'],
  ['1x99999999999', 'at most 50400 points'],
  ['_x50400 _', 'at most 50400 points'],
])('%j is refused', (text, message) => {
  expect(() => parseValues(text)).toThrow(NotationError)
  expect(() => parseValues(text)).toThrow(message)
})

test('values are those of a naive expansion', () => {
  const step = fc.integer({ min: -400, max: 400 }).map((value) => value / 4)
  const count = fc.integer({ min: 0, max: 20 })
  const signed = step.map((value) => (value < 0 ? `${value}` : `+${value}`))
  const word = fc.oneof(
    step.map(String),
    fc.constant('_'),
    count.map((times) => `_x${times}`),
    fc.tuple(step, count).map(([value, times]) => `${value}x${times}`),
    fc.tuple(step, signed, count).map(([value, by, times]) => `${value}${by}x${times}`),
  )
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (words) => {
      const text = words.join(' ')
      expect(parseValues(text)).toEqual(parseSeries(text).map((value) => value ?? null))
    }),
  )
})

test('any text is values or a NotationError', () => {
  const characters = fc.constantFrom(...'0123456789+-_x.e stale\n'.split(''))
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 12 }), (text) => {
      try {
        expect(parseValues(text).every((value) => value === null || Number.isFinite(value))).toBe(
          true,
        )
      } catch (error) {
        expect(error).toBeInstanceOf(NotationError)
      }
    }),
    { numRuns: 2_000 },
  )
})

describe('names of series', () => {
  test.each([
    ['cost', { name: 'cost', labels: {} }],
    ['failure_rate:bad{}', { name: 'failure_rate:bad', labels: {} }],
    [`cost{model="a", provider='b',}`, { name: 'cost', labels: { model: 'a', provider: 'b' } }],
    ['cost{model="a\\"}b"}', { name: 'cost', labels: { model: 'a"}b' } }],
    ['cost{model=`a\\b`}', { name: 'cost', labels: { model: 'a\\b' } }],
  ])('%s', (text, expected) => {
    expect(parseSeriesName(text)).toEqual(expected)
  })

  test.each([
    ['', 'expected a series'],
    ['cost{', 'expected a series'],
    ['cost{model=a}', 'expected labels'],
    ['cost{model="a" provider="b"}', 'expected labels'],
    ['cost{model="a",model="b"}', 'got the label `model` twice'],
  ])('%j is refused', (text, message) => {
    expect(() => parseSeriesName(text)).toThrow(message)
  })

  test('each label can be written, and is read as it was', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const quoted = `"${value.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
        expect(parseSeriesName(`cost{model=${quoted}}`).labels).toEqual({ model: value })
      }),
    )
  })
})

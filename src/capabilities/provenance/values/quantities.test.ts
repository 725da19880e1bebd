import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { measureCpu } from '../../../../test/support/cpu-time.ts'
import { agrees, readQuantities } from './quantities.ts'
import { readFactUnit } from './units.ts'

/** Reads the only quantity of a text. */
function read(text: string) {
  const found = readQuantities(text)
  expect(found).toHaveLength(1)
  return found[0]
}

describe('quantities', () => {
  test.each([
    ['costs €1,250.50 now', 1250.5, 'EUR'],
    ['costs 31,8 ct', 0.318, 'cent'],
    ['paid CHF 40', 40, 'CHF'],
    ['paid $3.5 million', 3_500_000, 'USD'],
    ['weighs 2 lb', 907.18474, 'mass'],
    ['takes ninety minutes', 5400, 'duration'],
    ['covers 3 km²', 3_000_000, 'area'],
    ['is 5% off', 5, '%'],
    ['rose by 5 percentage points', 5, 'points_of_percent'],
    ['holds 1\u202f200 GB', 1.2e12, 'data'],
    ['was −4 °C', -4, 'temperature'],
    ['runs at 90 km/h', 90, 'speed'],
    ['lost −250 EUR', -250, 'EUR'],
    ['lost -$1,250', -1250, 'USD'],
    ['lost $-1,250', -1250, 'USD'],
    ['lost –€5', -5, 'EUR'],
    ['was minus 4 °C', -4, 'temperature'],
    ['was -40 °F', -40, 'temperature'],
    ['lasts 2½ hours', 9000, 'duration'],
    ['lasts ½ hour', 1800, 'duration'],
    ['lasts 2 1/2 hours', 9000, 'duration'],
    ['weighs 1¾ kg', 1750, 'mass'],
  ])('%s', (text, value, kind) => {
    const quantity = read(text)
    expect(quantity?.value).toBeCloseTo(value, 6)
    expect(quantity?.kind).toBe(kind)
  })

  test.each([
    ['10–20 days', [10, 1_728_000]],
    ['50 EUR -20 EUR', [50, 20]],
    ['from 5 to -3', [5, -3]],
    ['T-9001', [9001]],
    ['(-7)', [-7]],
    ['a-5', [5]],
  ])('signs in %s', (text, values) => {
    expect(readQuantities(text).map(({ value }) => value)).toEqual(values)
  })

  test('a counted noun is kept, words and names are not numbers', () => {
    expect(read('has twelve seats')).toMatchObject({ value: 12, counted: 'seat' })
    expect(readQuantities('the V5 of the tenth constructor, often hasOwnProperty')).toEqual([])
  })

  test.each([
    ['at least 5 kg', 'at least', false],
    ['up to 5 kg', 'at most', false],
    ['more than 5 kg', 'more than', false],
    ['fewer than 5 items', 'less than', false],
    ['5 kg or more', 'at least', false],
    ['about 5 kg', undefined, true],
  ])('%s', (text, bound, approximate) => {
    expect(read(text)).toMatchObject({ bound, approximate })
  })

  test.each([
    ['12.3 km', 12_340, true],
    ['12.3 km', 12_360, false],
    ['12 km', 12_001, false],
    ['about 1,200 m', 1_240, true],
    ['about 1,200 m', 1_400, false],
    ['at least 40 m', 40, true],
    ['more than 40 m', 40, false],
    ['less than 40 m', 39.9, true],
  ])('%s agrees with %d: %s', (text, known, expected) => {
    const quantity = read(text)
    expect(quantity !== undefined && agrees(quantity, known)).toBe(expected)
  })

  test('any number is read back, in any text, with its place', () => {
    const around = fc.constantFrom('', ' ', ' the ', '€', '.', '\ud800', '\n')
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), around, around, (value, before, after) => {
        const text = `${before}${value.toLocaleString('en-US')}${after}`
        const quantity = read(text)
        expect(quantity?.value).toBe(value)
        const place = text.slice(quantity?.start, quantity?.end)
        expect(place.startsWith(value.toLocaleString('en-US'))).toBe(true)
      }),
    )
  })

  test('hostile texts are read in bounded time', () => {
    const { cpu_ms } = measureCpu(() => {
      for (const part of ['1,', '1 ', '-', 'million ', '€', '9'])
        expect(readQuantities(part.repeat(300_000)).length).toBeLessThanOrEqual(1_000)
    })
    expect(cpu_ms).toBeLessThan(3_000)
  })
})

test.each([
  ['km²', 'area', 1e6],
  ['EUR million', 'EUR', 1e6],
  ['points', 'count of point', 1],
  ['%', '%', 1],
])('unit %s of a fact', (text, kind, factor) => {
  expect(readFactUnit(text)).toEqual({ kind, factor })
})

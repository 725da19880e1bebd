import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fitJson } from './server.ts'

describe('a value as JSON in a budget', () => {
  test('is valid JSON within the budget, and is whole when it fits', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.integer({ min: 20, max: 400 }),
        (value, max) => {
          const whole = JSON.stringify(value)
          const { text, characters, is_cut } = fitJson(value, max)
          expect(text.length).toBeLessThanOrEqual(max)
          expect(() => JSON.parse(text)).not.toThrow()
          expect(characters).toBe(whole.length)
          expect(is_cut).toBe(whole.length > max)
          if (!is_cut) expect(text).toBe(whole)
        },
      ),
    )
  })

  test('shortens long texts before it leaves items out', () => {
    const rows = Array.from({ length: 12 }, (_, at) => ({ at, input: 'x'.repeat(5_000) }))
    const { text, is_cut, items_cut } = fitJson({ rows }, 24_000)
    expect([is_cut, items_cut]).toEqual([true, false])
    const read = JSON.parse(text)
    expect(read.rows).toHaveLength(12)
    expect(read.rows[0].input).toMatch(/^x{1000}… 4000 more characters$/)
  })

  test('leaves items out when texts are short, and says how many', () => {
    const rows = Array.from({ length: 1_000 }, (_, at) => ({ at, name: `step ${at}` }))
    const { text, items_cut } = fitJson({ rows }, 2_000)
    expect(items_cut).toBe(true)
    const read = JSON.parse(text)
    expect(read.rows.at(-1)).toBe('… 950 more items')
    expect(read.rows[0]).toEqual({ at: 0, name: 'step 0' })
  })

  test('of texts full of quotes and backslashes holds the budget', () => {
    const value = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`"\\${at}`, '"\\'.repeat(40)]),
    )
    expect(fitJson(value, 1_000).text.length).toBeLessThanOrEqual(1_000)
  })
})

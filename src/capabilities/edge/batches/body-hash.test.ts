import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBodyHash, depth_max } from './body-hash.ts'

function hashBatch(...values: unknown[]): string {
  const hash = createBodyHash()
  for (const value of values) expect(hash.add(value)).toBe(true)
  return hash.digest().toString('hex')
}

const json = fc.jsonValue({ maxDepth: 4 })

test('the same JSON value has the same hash in any order of its keys', () => {
  fc.assert(
    fc.property(json, (value) => {
      const copy: unknown = JSON.parse(JSON.stringify(value, null, 2))
      expect(hashBatch(reversed(copy))).toBe(hashBatch(JSON.parse(JSON.stringify(value))))
    }),
  )
})

test('different JSON values have different hashes', () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
      expect(hashBatch(one) === hashBatch(other)).toBe(same)
    }),
  )
})

describe('similar encodings do not collide', () => {
  test.each([
    [['a', 'b'], ['a"1:b']],
    [
      ['ab', 'c'],
      ['a', 'bc'],
    ],
    [[1, 2], [12]],
    [['1'], [1]],
    [[null], ['null']],
    [[true], ['true']],
    [[[]], [{}]],
    [[[], []], [[[]]]],
    [{ a: { b: 1 } }, { a: {}, b: 1 }],
    [{ a: 'b' }, { 'a"1:b': '' }],
    [{ ab: 1 }, { a: 'b1' }],
    [{}, { a: null }],
    [
      [1, 2],
      [2, 1],
    ],
  ])('%j and %j', (one, other) => {
    expect(hashBatch(one)).not.toBe(hashBatch(other))
  })
})

test('a value is read to the maximum depth, and a deeper one is reported', () => {
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
  expect(createBodyHash().add(nested(depth_max))).toBe(true)
  expect(createBodyHash().add(nested(depth_max + 1))).toBe(false)
  expect(createBodyHash().add(nested(500_000))).toBe(false)
})

/** The same value with the keys of its objects in the other order. */
function reversed(value: unknown): unknown {
  return withKeys(value, (keys) => keys.toReversed())
}

function sorted(value: unknown): unknown {
  return withKeys(value, (keys) => keys.toSorted())
}

function withKeys(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, order))
  if (typeof value !== 'object' || value === null) return value
  const record = value as Record<string, unknown>
  const made: Record<string, unknown> = Object.create(null)
  for (const key of order(Object.keys(record))) made[key] = withKeys(record[key], order)
  return made
}

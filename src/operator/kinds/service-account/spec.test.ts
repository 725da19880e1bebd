import fc from 'fast-check'
import { expect, test } from 'vitest'
import { duration_ms } from '../../common-spec.ts'
import { boundServiceAccount, serviceAccountSpec } from './spec.ts'

const specOf = (key: object) =>
  serviceAccountSpec.parse({
    ...{ projectRef: { name: 'a' }, scopes: ['tasks:read'] },
    keys: [{ name: 'main', secretName: 'key', ...key }],
  })

const minute_ms = 60_000
const duration = fc
  .tuple(fc.integer({ min: 1, max: 99_999 }), fc.constantFrom('s', 'm', 'h'))
  .map(([count, unit]) => `${count}${unit}`)
const optional = fc.option(duration, { nil: undefined })

test('any durations are read within their bounds, and those within them as they are', () => {
  fc.assert(
    fc.property(optional, optional, optional, (rotateAfter, overlap, expiresAfter) => {
      const spec = specOf({ rotateAfter, overlap, expiresAfter })
      const { spec: bound, warnings } = boundServiceAccount(spec)
      const [key] = bound.keys
      const age_ms = key?.rotateAfter && duration_ms(key.rotateAfter)
      if (age_ms) expect(age_ms).toBeGreaterThanOrEqual(10 * minute_ms)
      if (age_ms) expect(age_ms).toBeLessThanOrEqual(87_600 * 60 * minute_ms)
      if (key?.overlap) expect(duration_ms(key.overlap)).toBeLessThan(Number(age_ms))
      if (key?.expiresAfter) expect(duration_ms(key.expiresAfter)).toBeGreaterThan(Number(age_ms))
      expect(key?.rotateAfter === undefined).toBe(rotateAfter === undefined)
      expect(warnings.length === 0).toBe(JSON.stringify(bound) === JSON.stringify(spec))
      expect(boundServiceAccount(bound)).toEqual({ spec: bound, warnings: [] })
    }),
  )
})

test('an account without scopes is reported and stays as it is', () => {
  const spec = { ...specOf({}), scopes: [] }
  expect(boundServiceAccount(spec)).toEqual({
    spec,
    warnings: ['scopes: expected at least one scope'],
  })
})

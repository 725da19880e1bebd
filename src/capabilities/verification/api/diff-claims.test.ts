import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffClaims } from './diff-claims.ts'

const claim = fc.record({
  id: fc.nat(),
  digest: fc.constantFrom('a', 'b', 'c', 'd'),
  verdict: fc.constantFrom('supported', 'contradicted', 'not_found'),
})
const claims = fc.array(claim, { maxLength: 12 })

test('a claim is added, removed, changed or unchanged; the diff turns around with the runs', () => {
  fc.assert(
    fc.property(claims, claims, (from, to) => {
      const diff = diffClaims(from, to)
      const back = diffClaims(to, from)
      expect(diff.added.length + diff.changed.length + diff.unchanged).toBe(to.length)
      expect(diff.removed.length + diff.changed.length + diff.unchanged).toBe(from.length)
      const asSet = (some: object[]) => new Set(some)
      expect(asSet(back.added)).toEqual(asSet(diff.removed))
      expect(asSet(back.removed)).toEqual(asSet(diff.added))
      expect(back.unchanged).toBe(diff.unchanged)
    }),
  )
})

test('counts agree with a count by digest', () => {
  fc.assert(
    fc.property(claims, claims, (from, to) => {
      const diff = diffClaims(from, to)
      for (const digest of ['a', 'b', 'c', 'd']) {
        const before = from.filter((one) => one.digest === digest).length
        const after = to.filter((one) => one.digest === digest).length
        const added = diff.added.filter((one) => one.digest === digest).length
        const removed = diff.removed.filter((one) => one.digest === digest).length
        expect([added, removed]).toEqual([Math.max(0, after - before), Math.max(0, before - after)])
      }
    }),
  )
})

test('a changed claim is shown with both verdicts', () => {
  const [before, after] = ['supported', 'contradicted'].map((verdict, id) => ({
    ...{ id, digest: 'a', verdict },
  }))
  expect(diffClaims([before ?? never()], [after ?? never()])).toEqual({
    added: [],
    removed: [],
    changed: [{ from: before, to: after }],
    unchanged: 0,
  })
})

function never(): never {
  throw new Error('not reached')
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StoredResult } from '../contract.ts'
import { verifierNames } from '../contract.ts'
import type { Override } from '../runs/claims-store.ts'
import { fitCalibration } from '../trust/calibration.ts'
import { type Calibrations, computeTrust } from '../trust/fuse.ts'
import { verdicts } from '../verdicts/verdict.ts'
import { byDigest, resultsOf } from './claim-reply.ts'
import {
  type ClaimInEffect,
  countByVerifier,
  findWorstClaims,
  noteOf,
  scoreWithOverrides,
} from './claims-in-effect.ts'

const result = fc.record({
  verifier: fc.constantFrom(...verifierNames),
  verdict: fc.constantFrom(...verdicts),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  note: fc.constantFrom('one', 'two'),
})

const claims: fc.Arbitrary<ClaimInEffect[]> = fc
  .array(fc.tuple(fc.array(result, { maxLength: 4 }), fc.constantFrom(...verdicts)), {
    maxLength: 8,
  })
  .map((list) =>
    list.map(([results, verdict], position) => claimOf({ position, verdict, results })),
  )

function claimOf(about: Partial<ClaimInEffect> & { results?: object[] }): ClaimInEffect {
  const { position = 0 } = about
  const place = { position, starts_at: 0, ends_at: 1, text: `claim ${position}` }
  const claim = { id: `id${position}`, digest: `d${position}`, probability: null, results: [] }
  return { ...place, ...claim, verdict: 'supported', ...about } as ClaimInEffect
}

function overrideOf(position: number, verdict: 'supported' | 'contradicted'): Override {
  const about = { reason: 'seen by a person', created_by: 'user:u', machine: [] }
  const at = '2026-09-21T14:00:00.000Z'
  return {
    ...{ project_id: '', trace_id: '', trace_start: at, created_at: at },
    ...{ ...about, verdict, claim_digest: `d${position}` },
  }
}

const labels = Array.from({ length: 300 }, (_, index) => ({
  confidence: (index % 10) / 10,
  isRight: index % 3 === 0,
}))
const calibrations: Calibrations = { kb: fitCalibration(labels) }

test.each([{}, calibrations])('without overrides the score is the one of the run (%#)', (used) => {
  fc.assert(
    fc.property(claims, (some) => {
      const checked = some.map((claim) => ({ id: claim.id, results: resultsOf(claim) }))
      const { score } = computeTrust(checked, used)
      const shown = scoreWithOverrides(some, byDigest([]), used)
      expect(shown === null).toBe(score === null)
      expect(shown ?? 0).toBeCloseTo(score ?? 0, 5)
    }),
  )
})

test('a person’s verdict outweighs all verifiers, and no calibration lessens it', () => {
  const refuted: Partial<StoredResult>[] = verifierNames.map((verifier) => ({
    ...{ verifier, verdict: 'contradicted', confidence: 1 },
  }))
  const some = [claimOf({ position: 0, results: refuted }), claimOf({ position: 1, results: [] })]
  const supported = byDigest([overrideOf(0, 'supported'), overrideOf(1, 'supported')])
  expect(scoreWithOverrides(some, supported, calibrations)).toBe(0.99)
  const refutedByPerson = byDigest([overrideOf(0, 'supported'), overrideOf(1, 'contradicted')])
  expect(scoreWithOverrides(some, refutedByPerson, calibrations)).toBe(0.4)
})

test('overriding everything as supported gives the greatest score of any overrides', () => {
  fc.assert(
    fc.property(claims, fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), (some, signs) => {
      const verdictAt = (at: number) => (signs[at] ? 'supported' : 'contradicted')
      const mixed = byDigest(some.map((_, at) => overrideOf(at, verdictAt(at))))
      const best = byDigest(some.map((_, at) => overrideOf(at, 'supported')))
      const score = scoreWithOverrides(some, mixed, {})
      expect(score ?? 0).toBeLessThanOrEqual(scoreWithOverrides(some, best, {}) ?? 0)
    }),
  )
})

test('the worst claims are contradicted, then not found, then unverifiable; the least probable first', () => {
  const some = [
    claimOf({ position: 0, verdict: 'unverifiable' }),
    claimOf({ position: 1, verdict: 'contradicted', probability: 0.2 }),
    claimOf({ position: 2, verdict: 'supported', probability: 0.6 }),
    claimOf({ position: 3, verdict: 'contradicted', probability: 0.1 }),
    claimOf({ position: 4, verdict: 'not_found' }),
    claimOf({ position: 5, verdict: 'skipped' }),
  ]
  const positions = (overrides: Override[], limit = 9) =>
    findWorstClaims(some, byDigest(overrides), limit).map(({ position }) => position)
  expect(positions([])).toEqual([3, 1, 4, 0])
  expect(positions([], 2)).toEqual([3, 1])
  expect(positions([overrideOf(3, 'supported'), overrideOf(2, 'contradicted')])).toEqual([
    1, 2, 4, 0,
  ])
})

test('verdicts are counted for each verifier', () => {
  fc.assert(
    fc.property(claims, (some) => {
      const all = some.flatMap(({ results }) => results as unknown as StoredResult[])
      const counts = countByVerifier(some)
      for (const verifier of verifierNames) {
        for (const verdict of verdicts) {
          const n = all.filter((each) => each.verifier === verifier && each.verdict === verdict)
          expect(counts.get(verifier)?.[verdict] ?? 0).toBe(n.length)
        }
      }
    }),
  )
})

test('the note of a claim is the one of the result with its verdict', () => {
  const results = [
    { verdict: 'skipped', note: 'no reference' },
    { verdict: 'not_found', note: 'not found in what the agent saw' },
  ]
  expect(noteOf(claimOf({ verdict: 'not_found', results }))).toBe('not found in what the agent saw')
  expect(noteOf(claimOf({ verdict: 'supported', results }))).toBe('no reference')
  expect(noteOf(claimOf({ results: [] }))).toBe('')
})

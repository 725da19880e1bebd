import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verdicts } from '../verdicts/verdict.ts'
import { fitCalibration } from './calibration.ts'
import { type Calibrations, computeTrust, trustFormula } from './fuse.ts'
import { recomputeTrust, type ScoredRun } from './recompute.ts'

const share = fc.double({ min: 0, max: 1, noNaN: true })
const results = fc.uniqueArray(
  fc.record({
    verifier: fc.constantFrom('kb', 'citation', 'web', 'multi_model'),
    verdict: fc.constantFrom(...verdicts),
    confidence: share,
    note: fc.string({ maxLength: 5 }),
  }),
  { selector: ({ verifier }) => verifier, maxLength: 4 },
)
const claimList = fc.uniqueArray(fc.record({ id: fc.uuid(), results }), {
  selector: ({ id }) => id,
  maxLength: 20,
})
const calibration = fc
  .array(fc.record({ confidence: share, isRight: fc.boolean() }), {
    minLength: 200,
    maxLength: 230,
  })
  .map(fitCalibration)
const calibrations: fc.Arbitrary<Calibrations> = fc.record(
  { kb: calibration, web: calibration },
  { requiredKeys: [] },
)

/** A run as the worker stores it, read back from JSON. */
const storedRun: fc.Arbitrary<ScoredRun> = fc
  .tuple(claimList, calibrations)
  .map(([claims, used]) => {
    const {
      score,
      interval,
      coverage,
      calibrated,
      caps,
      claims: fused,
    } = computeTrust(claims, used)
    const byId = new Map(fused.map((claim) => [claim.id, claim]))
    const stored = {
      formula: trustFormula,
      calibrations: used,
      trust: { trust_score: score, interval, coverage, calibrated, caps },
      claims: claims.map(({ id, ...claim }) => {
        const { verdict, probability, weight } = byId.get(id) ?? {}
        return { claim_id: id, ...claim, verdict, probability, weight }
      }),
    }
    return JSON.parse(JSON.stringify(stored))
  })

test('the trust of a run is the same bit for bit, in any order of its claims', () => {
  fc.assert(
    fc.property(storedRun, fc.infiniteStream(fc.nat()), (run, order) => {
      const ranks = new Map(run.claims.map((claim) => [claim, order.next().value]))
      const shuffled = run.claims.toSorted(
        (one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0),
      )
      const again = recomputeTrust({ ...run, claims: shuffled })
      expect(again.differences).toEqual([])
      expect(again.recomputed).toStrictEqual(run.trust)
      expect(again.identical).toBe(true)
    }),
  )
})

test('a score, a verdict or a result that was changed after the run is noticed', () => {
  fc.assert(
    fc.property(storedRun, (run) => {
      const { trust_score } = run.trust
      const other = trust_score === null ? 0.5 : Math.min(1, trust_score + 1e-6)
      const better = { ...run, trust: { ...run.trust, trust_score: other } }
      if (other !== trust_score) expect(recomputeTrust(better).identical).toBe(false)
      const [first, ...rest] = run.claims
      if (first === undefined) return
      const changed = { ...first, weight: first.weight === 1 ? 0.9 : 1 }
      const again = recomputeTrust({ ...run, claims: [changed, ...rest] })
      expect(again).toMatchObject({ identical: false, differences: [{ claim_id: first.claim_id }] })
      const doubted = { ...first, results: [{ ...certain, verdict: 'contradicted' as const }] }
      if (first.weight === 0.6) return
      expect(recomputeTrust({ ...run, claims: [doubted, ...rest] }).identical).toBe(false)
    }),
  )
})

const certain = { verifier: 'multi_model', confidence: 1 } as const

test('another calibration than the one of the run gives another score', () => {
  const labels = Array.from({ length: 200 }, (_, at) => ({ confidence: 0.9, isRight: at % 4 > 0 }))
  const given = [
    { id: 'c', results: [{ verifier: 'kb', verdict: 'supported', confidence: 0.9 } as const] },
  ]
  const { score, claims, ...trust } = computeTrust(given, { kb: fitCalibration(labels) })
  const run = {
    formula: trustFormula,
    trust: { ...trust, interval: trust.interval && [...trust.interval], trust_score: score },
    claims: claims.map(({ id, ...claim }, at) => ({
      ...{ ...claim, claim_id: id, results: given[at]?.results ?? [] },
    })),
  } as unknown as Omit<ScoredRun, 'calibrations'>
  expect(score).toBe(0.75)
  expect(recomputeTrust({ ...run, calibrations: {} })).toMatchObject({
    identical: false,
    stored: { trust_score: 0.75, calibrated: { kb: true } },
    recomputed: { trust_score: 0.9, calibrated: { kb: false } },
  })
})

test('a run of another formula is refused, not scored again', () => {
  const [run] = fc.sample(storedRun, 1)
  if (run === undefined) throw new Error('no sample')
  expect(() => recomputeTrust({ ...run, formula: 'trust-0' })).toThrow(
    expect.objectContaining({
      code: 'trust_formula_changed',
      message: expect.stringContaining('scored with trust-0'),
    }),
  )
})

test('a claim that occurs twice is refused', () => {
  const claim = { claim_id: 'c', verdict: 'skipped', probability: null, weight: 0 } as const
  const twice = [claim, claim].map((one) => ({ ...one, results: [] }))
  const trust = { trust_score: null, interval: null, coverage: 0, calibrated: {}, caps: [] }
  const run = { formula: trustFormula, calibrations: {}, trust, claims: twice }
  expect(() => recomputeTrust(run)).toThrow('Claim c occurs twice')
})

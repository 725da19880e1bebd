import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CheckedClaim, computeTrust, type VerifierResult, verifierWeights } from './fuse.ts'

const result = fc.record({
  verifier: fc.constantFrom('kb', 'citation', 'web', 'multi_model'),
  verdict: fc.constantFrom('supported', 'contradicted', 'not_found', 'unverifiable', 'skipped'),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
}) as fc.Arbitrary<VerifierResult>
const claimList = fc.uniqueArray(
  fc.record({ id: fc.string({ maxLength: 3 }), results: fc.array(result, { maxLength: 6 }) }),
  { selector: ({ id }) => id, maxLength: 12 },
)

function claim(
  id: string,
  ...results: [VerifierResult['verdict'], number, VerifierResult['verifier']?][]
): CheckedClaim {
  return {
    id,
    results: results.map(([verdict, confidence, verifier = 'kb']) => ({
      verifier,
      verdict,
      confidence,
    })),
  }
}

describe('the trust score', () => {
  test('is null without claims, and without a decided claim', () => {
    expect(computeTrust([], {})).toMatchObject({
      score: null,
      interval: null,
      coverage: 0,
      caps: [],
    })
    const open = [claim('a', ['unverifiable', 0.9]), claim('b', ['not_found', 1])]
    expect(computeTrust(open, {})).toMatchObject({ score: null, interval: null, coverage: 0 })
  })

  test('is the weighted mean of the claims', () => {
    const claims = [claim('a', ['supported', 0.9]), claim('b', ['supported', 0.7, 'multi_model'])]
    const odds = (0.7 / 0.3) ** 0.6
    const expected = (0.9 + 0.6 * (odds / (1 + odds))) / 1.6
    expect(computeTrust(claims, {}).score).toBeCloseTo(expected, 6)
  })

  test('adds log-odds of verifiers that agree', () => {
    const two = claim('a', ['supported', 0.8], ['supported', 0.8, 'web'])
    const odds = 4 * 4 ** 0.8
    expect(computeTrust([two], {}).claims[0]?.probability).toBeCloseTo(odds / (1 + odds), 6)
  })

  test('is at most 0.4 with a strong contradiction, however much else is supported', () => {
    const many = Array.from({ length: 50 }, (_, at) => claim(`s${at}`, ['supported', 0.99]))
    const trust = computeTrust([...many, claim('x', ['contradicted', 0.95])], {})
    expect(trust).toMatchObject({ score: 0.4, caps: ['contradiction'] })
    expect(trust.interval?.[1]).toBeLessThanOrEqual(0.4)
  })

  test('is at most 0.7 when fewer than half of the claims are decided', () => {
    const claims = [claim('a', ['supported', 0.99]), claim('b', ['not_found', 1]), claim('c')]
    expect(computeTrust(claims, {})).toMatchObject({ score: 0.7, caps: ['coverage'] })
    const two = [claim('a', ['supported', 0.99]), claim('c')]
    expect(computeTrust(two, {})).toMatchObject({ score: 0.99, caps: [] })
  })

  test('is at most 0.7 with a value that the agent did not see, until a verifier finds it', () => {
    const seen = Array.from({ length: 20 }, (_, at) => claim(`s${at}`, ['supported', 0.99]))
    const unseen = { verifier: 'kb', verdict: 'not_found', confidence: 0.9 } as const
    const capsWith = (...results: VerifierResult[]) =>
      computeTrust([...seen, { id: 'x', results }], {}).caps
    const byValue = { ...unseen, method: 'provenance' }
    expect(computeTrust([...seen, { id: 'x', results: [byValue] }], {}).score).toBe(0.7)
    expect(capsWith(byValue)).toEqual(['not_found'])
    expect(capsWith({ ...unseen, method: 'words' })).toEqual([])
    expect(capsWith(byValue, { verifier: 'web', verdict: 'supported', confidence: 0.9 })).toEqual(
      [],
    )
  })

  test('does not grow when a verifier repeats itself', () => {
    const once = computeTrust([claim('a', ['supported', 0.8])], {})
    const often = computeTrust([claim('a', ...Array(9).fill(['supported', 0.8]))], {})
    expect(often).toEqual(once)
    const both = computeTrust([claim('a', ['supported', 0.99], ['contradicted', 0.9])], {})
    expect(both.score).toBeCloseTo(0.1, 6)
  })

  test('a verdict of little confidence never speaks for its opposite', () => {
    expect(computeTrust([claim('a', ['contradicted', 0.1])], {}).score).toBe(0.5)
  })

  test('refuses twins and confidences that are not probabilities', () => {
    expect(() => computeTrust([claim('a'), claim('a')], {})).toThrow('Claim a occurs twice')
    expect(() => computeTrust([claim('a', ['supported', Number.NaN])], {})).toThrow(
      'Confidence NaN',
    )
    expect(() => computeTrust([claim('a', ['skipped', 2])], {})).toThrow('Confidence 2')
  })

  test('uses calibrations and names the verifiers that have one', () => {
    const calibration = { calibrated: true, labels: 200, steps: [{ from: 0, value: 0.6 }] }
    const trust = computeTrust([claim('a', ['supported', 0.99])], { kb: calibration })
    expect(trust).toMatchObject({ score: 0.6, calibrated: { kb: true, web: false } })
  })

  test('is bit for bit the same for shuffled claims and results', () => {
    fc.assert(
      fc.property(claimList, fc.infiniteStream(fc.nat()), (claims, random) => {
        const shuffle = <T>(items: readonly T[]): T[] =>
          items
            .map((item) => ({ item, key: random.next().value as number }))
            .sort((one, other) => one.key - other.key)
            .map(({ item }) => item)
        const shuffled = shuffle(
          claims.map(({ id, results }) => ({ id, results: shuffle(results) })),
        )
        expect(JSON.stringify(computeTrust(shuffled, {}))).toBe(
          JSON.stringify(computeTrust(claims, {})),
        )
      }),
    )
  })

  test('adds the log-odds of verifiers in one order', () => {
    const decided = fc.double({ min: 0.5, max: 0.99, noNaN: true })
    fc.assert(
      fc.property(fc.array(decided, { minLength: 4, maxLength: 4 }), ([a, b, c, d]) => {
        const one = claim('a', ['supported', a ?? 0], ['supported', b ?? 0, 'web'])
        const more = claim(
          'a',
          ['contradicted', c ?? 0, 'citation'],
          ['supported', d ?? 0, 'multi_model'],
        )
        const results = [...one.results, ...more.results]
        const trust = computeTrust([{ id: 'a', results }], {})
        expect(computeTrust([{ id: 'a', results: results.toReversed() }], {})).toEqual(trust)
      }),
      { numRuns: 500 },
    )
  })

  test('stays in its interval, the interval in 0–1, and the caps hold', () => {
    fc.assert(
      fc.property(claimList, (claims) => {
        const { score, interval, coverage, caps, claims: fused } = computeTrust(claims, {})
        expect(score === null).toBe(fused.every(({ probability }) => probability === null))
        if (score === null || interval === null) return
        expect(interval[0]).toBeLessThanOrEqual(score)
        expect(interval[1]).toBeGreaterThanOrEqual(score)
        expect(interval[0]).toBeGreaterThanOrEqual(0)
        expect(interval[1]).toBeLessThanOrEqual(1)
        if (coverage < 0.5) expect(score).toBeLessThanOrEqual(0.7)
        if (caps.includes('contradiction')) expect(score).toBeLessThanOrEqual(0.4)
      }),
    )
    expect(Object.values(verifierWeights).every((weight) => weight > 0 && weight <= 1)).toBe(true)
  })
})

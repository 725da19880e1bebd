import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { severities } from '../../../../model/severity.ts'
import { factorWeights, type RiskFacts, riskOf } from './risk.ts'

const share = fc.double({ min: 0, max: 1, noNaN: true })
const finding = fc.record({
  severity: fc.constantFrom(...severities),
  confidence: share,
  state: fc.constantFrom('open' as const, 'recovered' as const),
})
const facts: fc.Arbitrary<RiskFacts> = fc
  .record({
    findings: fc.array(finding, { maxLength: 20 }),
    is_failed: fc.boolean(),
    calls: fc.nat(100),
    errors: fc.nat(100),
    trust: fc.option(share),
    negative_feedback: fc.option(share),
  })
  .map((given) => ({ ...given, errors: Math.min(given.errors, given.calls) }))

const healthy: RiskFacts = {
  ...{ findings: [], is_failed: false, calls: 3, errors: 0, trust: null, negative_feedback: null },
}

describe('the risk of a task', () => {
  test('is 0–1, and the shares of the known factors add up to 1', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const { risk, factors } = riskOf(given)
        expect(risk).toBeGreaterThanOrEqual(0)
        expect(risk).toBeLessThanOrEqual(1)
        const known = factors.filter((one) => one.share !== null)
        const sum = known.reduce((all, one) => all + (one.share ?? 0), 0)
        expect(sum).toBeCloseTo(risk === 0 ? 0 : 1, 9)
        for (const { value, weight, share: part } of factors) {
          expect([weight === null, part === null]).toEqual([value === null, value === null])
        }
      }),
    )
  })

  test('never falls when something is worse, and does not depend on the order of findings', () => {
    fc.assert(
      fc.property(facts, finding, ({ findings, ...rest }, more) => {
        const { risk } = riskOf({ findings, ...rest })
        const worse = [
          { findings: [...findings, more], ...rest },
          { findings, ...rest, is_failed: true },
          { findings, ...rest, errors: rest.calls },
          ...(rest.trust === null ? [] : [{ findings, ...rest, trust: rest.trust / 2 }]),
          ...(rest.negative_feedback === null ? [] : [{ findings, ...rest, negative_feedback: 1 }]),
        ]
        for (const one of worse) expect(riskOf(one).risk).toBeGreaterThanOrEqual(risk - 1e-12)
        const reversed = riskOf({ findings: findings.toReversed(), ...rest })
        expect(reversed.risk).toBeCloseTo(risk, 12)
      }),
    )
  })

  test('is 0 for a healthy task, also without any call', () => {
    expect(riskOf(healthy).risk).toBe(0)
    expect(riskOf({ ...healthy, calls: 0 }).risk).toBe(0)
  })

  test('weighs known factors only', () => {
    const failed = riskOf({ ...healthy, is_failed: true })
    expect(failed.risk).toBeCloseTo(0.3 / 0.7, 12)
    const trusted = riskOf({ ...healthy, is_failed: true, trust: 1, negative_feedback: 0 })
    expect(trusted.risk).toBeCloseTo(0.3, 12)
    expect(Object.values(factorWeights).reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 12)
  })

  test('a recovered finding counts half, and confidence counts', () => {
    const risk = (state: 'open' | 'recovered', confidence: number) =>
      riskOf({ ...healthy, findings: [{ severity: 'high', confidence, state }] }).risk
    expect(risk('recovered', 1)).toBeCloseTo(risk('open', 1) / 2, 12)
    expect(risk('open', 0.5)).toBeCloseTo(risk('open', 1) / 2, 12)
    expect(risk('open', 0)).toBe(0)
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { severities } from '../../../model/severity.ts'
import { type ReviewFacts, reviewRisk, reviewWeights } from './queue.ts'

const share = fc.double({ min: 0, max: 1, noNaN: true })
const finding = fc.record({
  severity: fc.constantFrom(...severities),
  confidence: share,
  state: fc.constantFrom('open' as const, 'recovered' as const),
})
const facts: fc.Arbitrary<ReviewFacts> = fc.record({
  findings: fc.array(finding, { maxLength: 12 }),
  trust: fc.option(share),
  coverage: fc.option(share),
  is_negative: fc.boolean(),
  is_labelled: fc.boolean(),
})
const calm: ReviewFacts = {
  ...{ findings: [], trust: null, coverage: null, is_negative: false, is_labelled: false },
}

test('the risk is 0–1, and does not depend on the order of findings', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { risk, factors } = reviewRisk(given)
      expect(risk).toBeGreaterThanOrEqual(0)
      expect(risk).toBeLessThanOrEqual(1)
      for (const value of Object.values(factors)) expect(value).toBeGreaterThanOrEqual(0)
      const reversed = reviewRisk({ ...given, findings: given.findings.toReversed() })
      expect(reversed.risk).toBeCloseTo(risk, 12)
    }),
  )
})

test('it never falls with one more finding, with less trust or with negative feedback', () => {
  fc.assert(
    fc.property(facts, finding, (given, more) => {
      const { risk } = reviewRisk(given)
      const worse = [
        { ...given, findings: [...given.findings, more] },
        { ...given, trust: (given.trust ?? 1) / 2 },
        { ...given, coverage: (given.coverage ?? 1) / 2 },
        { ...given, is_negative: true },
      ]
      for (const one of worse) expect(reviewRisk(one).risk).toBeGreaterThanOrEqual(risk - 1e-12)
    }),
  )
})

test('a label answers negative feedback; nothing known is not a risk', () => {
  expect(reviewRisk(calm).risk).toBe(0)
  const negative = { ...calm, is_negative: true }
  expect(reviewRisk(negative).risk).toBe(reviewWeights.feedback)
  expect(reviewRisk({ ...negative, is_labelled: true }).risk).toBe(0)
})

test('a sure finding has no uncertainty, a doubtful one has all of it', () => {
  const of = (confidence: number) =>
    reviewRisk({ ...calm, findings: [{ severity: 'info', confidence, state: 'open' }] }).factors
  expect(of(1).uncertainty).toBe(0)
  expect(of(0.5).uncertainty).toBe(1)
})

test('the weights add up to 1', () => {
  expect(Object.values(reviewWeights).reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 12)
})

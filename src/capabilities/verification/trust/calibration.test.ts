import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  brierScore,
  calibrate,
  calibrationError,
  fitCalibration,
  fitIsotonic,
  type Label,
} from './calibration.ts'

const label = fc.record({
  confidence: fc.integer({ min: 0, max: 8 }).map((eighths) => eighths / 8),
  isRight: fc.boolean(),
})
const labels = fc.array(label, { minLength: 1, maxLength: 40 })

/** Isotonic regression by its definition: max over beginnings of min over ends of the mean. */
function naiveIsotonic(given: readonly Label[], confidence: number): number {
  const values = [...new Set(given.map((one) => one.confidence))].sort((one, other) => one - other)
  const mean = (from: number, to: number) => {
    const inside = given.filter((one) => one.confidence >= from && one.confidence <= to)
    return inside.filter(({ isRight }) => isRight).length / inside.length
  }
  const beginnings = values.filter((value) => value <= confidence)
  const ends = values.filter((value) => value >= confidence)
  return Math.max(...beginnings.map((from) => Math.min(...ends.map((to) => mean(from, to)))))
}

describe('isotonic calibration', () => {
  test('equals the definition by maxima of minima, in any order of the labels', () => {
    fc.assert(
      fc.property(labels, (given) => {
        const steps = fitIsotonic(given)
        expect(fitIsotonic(given.toReversed())).toEqual(steps)
        const fitted = { calibrated: true, labels: given.length, steps }
        for (const { confidence } of given) {
          expect(calibrate(fitted, confidence)).toBeCloseTo(naiveIsotonic(given, confidence), 12)
        }
      }),
    )
  })

  test('never decreases', () => {
    fc.assert(
      fc.property(labels, (given) => {
        const values = fitIsotonic(given).map(({ value }) => value)
        expect(values).toEqual(values.toSorted((one, other) => one - other))
      }),
    )
  })

  test('is the identity below 200 labels', () => {
    const one = { confidence: 0.9, isRight: false }
    const few = fitCalibration(Array(199).fill(one))
    expect(few).toMatchObject({ calibrated: false, labels: 199 })
    expect(calibrate(few, 0.42)).toBe(0.42)
    expect(calibrate(fitCalibration(Array(200).fill(one)), 0.42)).toBe(0)
  })
})

describe('Brier score and calibration error', () => {
  test('are 0 for certain and right, 1 for certain and wrong, null without labels', () => {
    expect(brierScore([{ confidence: 1, isRight: true }])).toBe(0)
    expect(brierScore([{ confidence: 1, isRight: false }])).toBe(1)
    expect(calibrationError([{ confidence: 1, isRight: false }])).toBe(1)
    expect([brierScore([]), calibrationError([])]).toEqual([null, null])
  })

  test('of labels that are right as often as stated: no calibration error', () => {
    const given = [0, 1, 2, 3].map((at) => ({ confidence: 0.75, isRight: at > 0 }))
    expect(calibrationError(given)).toBeCloseTo(0, 12)
    expect(brierScore(given)).toBeCloseTo(0.1875, 12)
  })

  test('do not depend on the order of the labels', () => {
    const confidence = fc.double({ min: 0, max: 1, noNaN: true })
    const exact = fc.array(fc.record({ confidence, isRight: fc.boolean() }), { maxLength: 40 })
    fc.assert(
      fc.property(exact, (given) => {
        expect(brierScore(given.toReversed())).toBe(brierScore(given))
        expect(calibrationError(given.toReversed())).toBe(calibrationError(given))
      }),
    )
  })
})

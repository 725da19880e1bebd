import fc from 'fast-check'
import { expect, test } from 'vitest'
import { brierScore, calibrate } from './calibration.ts'
import { fitToPeople, measureLabels } from './person-labels.ts'

const label = fc.record({
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  isRight: fc.boolean(),
  created_by: fc.constantFrom('user:a', 'user:b', 'user:c'),
})

/** Labels of a verifier that states 0.9 and is right in `right` of 10 cases. */
function labelsAt(right: number, count: number) {
  const one = { confidence: 0.9, created_by: 'user:a' }
  return Array.from({ length: count }, (_, at) => ({ ...one, isRight: at % 10 < right }))
}

test('labels are counted by person', () => {
  fc.assert(
    fc.property(fc.array(label, { maxLength: 30 }), (labels) => {
      const names = labels.map(({ created_by }) => created_by)
      const counts = [...new Set(names)].map((name) => names.filter((one) => one === name).length)
      const { labels: count, people, largest_share } = measureLabels(labels)
      expect([count, people]).toEqual([labels.length, counts.length])
      const share = counts.length === 0 ? null : Math.max(...counts) / labels.length
      expect(largest_share).toBe(share)
    }),
  )
})

test('a verifier that is surer than it is right is calibrated from 200 labels on', () => {
  const few = fitToPeople(labelsAt(6, 199))
  expect(few).toMatchObject({ calibrated: false, labels: 199, steps: [] })
  const enough = fitToPeople(labelsAt(6, 200))
  expect(enough).toMatchObject({ calibrated: true, labels: 200 })
  expect(calibrate(enough, 0.9)).toBe(0.6)
  expect(few.ece).toBeGreaterThan(0.25)
  expect(enough.ece).toBeLessThan(0.03)
  expect(enough.brier ?? 1).toBeLessThan(brierScore(labelsAt(6, 200)) ?? 0)
})

test('labels without any pattern are not said to be calibrated well by fitting their noise', () => {
  const noise = fc.array(label, { minLength: 200, maxLength: 260 })
  fc.assert(
    fc.property(noise, (labels) => {
      const { steps, brier } = fitToPeople(labels)
      const onItsOwn = labels.map(({ confidence, isRight }) => ({
        confidence: calibrate({ calibrated: true, labels: labels.length, steps }, confidence),
        isRight,
      }))
      expect(brier ?? 0).toBeGreaterThanOrEqual((brierScore(onItsOwn) ?? 1) - 1e-9)
    }),
    { numRuns: 30 },
  )
})

test('the order of the labels has no influence', () => {
  fc.assert(
    fc.property(fc.array(label, { minLength: 190, maxLength: 220 }), (labels) => {
      expect(fitToPeople(labels.toReversed())).toEqual(fitToPeople(labels))
      expect(measureLabels(labels.toReversed())).toEqual(measureLabels(labels))
    }),
    { numRuns: 30 },
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { brierScore, calibrate } from './calibration.ts'
import { capPeople, fitToPeople, measureLabels } from './person-labels.ts'

const label = fc.record({
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  isRight: fc.boolean(),
  created_by: fc.constantFrom('user:a', 'user:b', 'user:c'),
})

/** Labels of a verifier that states 0.9 and is right in `right` of 10 cases. */
function labelsAt(right: number, count: number) {
  return Array.from({ length: count }, (_, at) => ({
    ...{ confidence: 0.9, isRight: at % 10 < right },
    created_by: at % 20 < 10 ? 'user:a' : 'user:b',
  }))
}

/** Labels of one person that say the opposite of what `labelsAt` says. */
function hostileLabels(count: number) {
  const one = { confidence: 0.9, isRight: false, created_by: 'user:mallory' }
  return Array.from({ length: count }, () => one)
}

const countOf = (labels: readonly { created_by: string }[], person: string) =>
  labels.filter(({ created_by }) => created_by === person).length

test('nobody gives more than half of the labels of a fit, and all labels of others count', () => {
  fc.assert(
    fc.property(fc.array(label, { maxLength: 60 }), (labels) => {
      const counted = capPeople(labels)
      for (const { created_by } of labels) {
        const [given, kept] = [countOf(labels, created_by), countOf(counted, created_by)]
        expect(kept).toBe(Math.min(given, labels.length - given))
      }
      expect(measureLabels(labels).labels_counted).toBe(counted.length)
      const used = new Map<object, number>()
      for (const one of counted) used.set(one, (used.get(one) ?? 0) + 1)
      expect([...used.values()].every((times) => times === 1)).toBe(true)
    }),
  )
})

test('attack: the labels of one person alone calibrate nothing, however many', () => {
  const alone = fitToPeople(hostileLabels(5_000))
  expect(alone).toMatchObject({ calibrated: false, labels: 0, steps: [] })
  // With few labels of others, there are too few that count.
  const few = fitToPeople([...labelsAt(9, 99), ...hostileLabels(5_000)])
  expect(few).toMatchObject({ calibrated: false, labels: 198, steps: [] })
  expect(calibrate(few, 0.9)).toBe(0.9)
})

test('attack: a flood of labels counts no more than the labels of all others', () => {
  const honest = labelsAt(9, 200)
  const flooded = fitToPeople([...honest, ...hostileLabels(5_000)])
  expect(flooded).toMatchObject({ calibrated: true, labels: 400 })
  expect(calibrate(flooded, 0.9)).toBe(0.45)
  expect(flooded.steps).toEqual(fitToPeople([...honest, ...hostileLabels(200)]).steps)
})

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
  expect(few).toMatchObject({ calibrated: false, labels: 198, steps: [] })
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

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { brierScore, calibrate } from './calibration.ts'
import { capPeople, combineVerdicts, fitToPeople, measureLabels } from './person-labels.ts'

const label = fc.record({
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  isRight: fc.boolean(),
  people: fc.constantFrom<string[]>(['user:a'], ['user:b'], ['user:c'], ['user:a', 'user:b']),
})

/** Labels of a verifier that states 0.9 and is right in `right` of 10 cases. */
function labelsAt(right: number, count: number) {
  return Array.from({ length: count }, (_, at) => ({
    ...{ confidence: 0.9, isRight: at % 10 < right },
    people: [at % 20 < 10 ? 'user:a' : 'user:b'],
  }))
}

/** Labels of one person that say the opposite of what `labelsAt` says. */
function hostileLabels(count: number) {
  const one = { confidence: 0.9, isRight: false, people: ['user:mallory'] }
  return Array.from({ length: count }, () => one)
}

/** Labels that a person gave alone. */
const countOf = (labels: readonly { people: readonly string[] }[], person: string) =>
  labels.filter(({ people }) => people.length === 1 && people[0] === person).length

test('a fit counts at most half of its labels from one person, and all labels of the others', () => {
  fc.assert(
    fc.property(fc.array(label, { maxLength: 60 }), (labels) => {
      const counted = capPeople(labels)
      for (const person of ['user:a', 'user:b', 'user:c']) {
        const [given, kept] = [countOf(labels, person), countOf(counted, person)]
        expect(kept).toBe(Math.min(given, labels.length - given))
      }
      const agreed = (list: readonly { people: readonly string[] }[]) =>
        list.filter(({ people }) => people.length > 1)
      expect(agreed(counted)).toEqual(agreed(labels))
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
      const names = labels.flatMap(({ people }) => people)
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

describe('verdicts of several people on a claim', () => {
  const verdicts = fc.array(
    fc.record({
      by: fc.constantFrom('user:a', 'user:b', 'user:c', 'user:d'),
      verdict: fc.constantFrom('supported', 'contradicted'),
    }),
    { maxLength: 8 },
  )

  test('the majority of people decides, each by the newest verdict; a tie decides nothing', () => {
    fc.assert(
      fc.property(verdicts, (given) => {
        const newest = (by: string) => given.find((one) => one.by === by)?.verdict
        const people = (verdict: string) =>
          ['user:a', 'user:b', 'user:c', 'user:d'].filter((by) => newest(by) === verdict)
        const [pro, contra] = [people('supported'), people('contradicted')]
        const expected =
          pro.length === contra.length
            ? undefined
            : pro.length > contra.length
              ? { verdict: 'supported', people: pro }
              : { verdict: 'contradicted', people: contra }
        expect(combineVerdicts(given)).toEqual(expected)
      }),
    )
  })

  test('attack: repeated verdicts of one person do not outvote two others', () => {
    const flood = Array.from({ length: 50 }, () => ({ by: 'user:m', verdict: 'contradicted' }))
    const honest = ['user:a', 'user:b'].map((by) => ({ by, verdict: 'supported' }))
    const combined = { verdict: 'supported', people: ['user:a', 'user:b'] }
    expect(combineVerdicts([...flood, ...honest])).toEqual(combined)
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cohenKappa, fleissKappa, type GivenLabel, pairAgreements } from './kappa.ts'

const label = fc.constantFrom('correct', 'incorrect', 'partly', 'unclear')
const pairs = fc.array(fc.tuple(label, label), { minLength: 1, maxLength: 60 })
const given: fc.Arbitrary<GivenLabel[]> = fc.uniqueArray(
  fc.record({
    item: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    reviewer: fc.constantFrom('anna', 'bert', 'carl'),
    label,
  }),
  { selector: ({ item, reviewer }) => `${item} ${reviewer}`, maxLength: 18 },
)

/** Cohen (1960), over the matrix of counts. */
function naiveKappa(list: readonly (readonly [string, string])[]): number | null {
  const names = ['correct', 'incorrect', 'partly', 'unclear']
  const share = (fits: (one: readonly [string, string]) => boolean) =>
    list.filter(fits).length / list.length
  const observed = names.reduce((sum, one) => sum + share(([a, b]) => a === one && b === one), 0)
  const expected = names.reduce(
    (sum, one) => sum + share(([a]) => a === one) * share(([, b]) => b === one),
    0,
  )
  return expected === 1 ? null : (observed - expected) / (1 - expected)
}

test('κ is that of the matrix, at most 1, and the same for exchanged reviewers', () => {
  fc.assert(
    fc.property(pairs, (list) => {
      const { kappa, observed } = cohenKappa(list)
      const naive = naiveKappa(list)
      if (naive === null) {
        expect(kappa).toBeNull()
        return
      }
      expect(kappa).toBeCloseTo(naive, 9)
      expect(kappa).toBeLessThanOrEqual(1 + 1e-12)
      expect(observed === 1).toBe(Math.abs((kappa ?? 0) - 1) < 1e-12)
      expect(cohenKappa(list.map(([a, b]) => [b, a])).kappa).toBeCloseTo(naive, 9)
    }),
  )
})

test('the example of the literature: 0.4 for 20, 5, 10, 15', () => {
  const times = (count: number, a: string, b: string) =>
    Array.from({ length: count }, (): [string, string] => [a, b])
  const list = [
    ...times(20, 'correct', 'correct'),
    ...times(5, 'correct', 'incorrect'),
    ...times(10, 'incorrect', 'correct'),
    ...times(15, 'incorrect', 'incorrect'),
  ]
  expect(cohenKappa(list)).toMatchObject({ items: 50, observed: 0.7, expected: 0.5 })
  expect(cohenKappa(list).kappa).toBeCloseTo(0.4, 12)
})

test('labels at random agree by chance only', () => {
  const list = Array.from({ length: 20_000 }, (_, at): [string, string] => [
    (at * 7919) % 10 < 7 ? 'correct' : 'incorrect',
    (at * 104_729) % 13 < 9 ? 'correct' : 'incorrect',
  ])
  expect(Math.abs(cohenKappa(list).kappa ?? 1)).toBeLessThan(0.05)
})

test('without common items, and with one label everywhere, there is no κ', () => {
  expect(cohenKappa([])).toEqual({ items: 0, observed: null, expected: null, kappa: null })
  expect(cohenKappa([['correct', 'correct']])).toMatchObject({ observed: 1, kappa: null })
})

test('each two reviewers are compared on the items that both labelled', () => {
  fc.assert(
    fc.property(given, (list) => {
      const shuffled = pairAgreements(list.toReversed())
      expect(shuffled).toEqual(pairAgreements(list))
      for (const { reviewers, items, kappa } of shuffled) {
        const [one, other] = reviewers
        expect(one < other).toBe(true)
        const common = list.flatMap((a): [string, string][] =>
          list
            .filter((b) => a.item === b.item && a.reviewer === one && b.reviewer === other)
            .map((b) => [a.label, b.label]),
        )
        expect(items).toBe(common.length)
        expect(kappa).toEqual(cohenKappa(common).kappa)
      }
    }),
  )
})

test('Fleiss: the published example has 0.210', () => {
  const counts = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
  ]
  const list = counts.flatMap((row, item) => {
    const labels = row.flatMap((count, at) => Array.from({ length: count }, () => `l${at}`))
    return labels.map((one, at) => ({ item: `i${item}`, reviewer: `r${at}`, label: one }))
  })
  expect(fleissKappa(list).kappa).toBeCloseTo(0.21, 3)
})

test('Fleiss: with two reviewers of all items it is at most κ of Cohen', () => {
  fc.assert(
    fc.property(pairs, (list) => {
      const labels = list.flatMap(([a, b], item) => [
        { item: `${item}`, reviewer: 'anna', label: a },
        { item: `${item}`, reviewer: 'bert', label: b },
      ])
      const [cohen, fleiss] = [cohenKappa(list).kappa, fleissKappa(labels).kappa]
      if (cohen === null || fleiss === null) return
      expect(fleiss).toBeLessThanOrEqual(cohen + 1e-12)
    }),
  )
})

/** A label that a reviewer gave to an item. Each reviewer labels an item once. */
export type GivenLabel = { item: string; reviewer: string; label: string }

/** Agreement of two raters. */
export type Agreement = {
  /** Items that both labelled. */
  items: number
  /** Share of items with equal labels, 0–1; null without items. */
  observed: number | null
  /** Expected share for random labels with the same frequencies. */
  expected: number | null
  /** 1 is perfect, 0 is chance; null without items, or if the expected share is 1. */
  kappa: number | null
}

/** Computes κ of Cohen (1960) of the labels that two reviewers gave to the same items. */
export function cohenKappa(pairs: readonly (readonly [string, string])[]): Agreement {
  const items = pairs.length
  if (items === 0) return { items, observed: null, expected: null, kappa: null }
  const firsts = countLabels(pairs.map(([first]) => first))
  const seconds = countLabels(pairs.map(([, second]) => second))
  const observed = pairs.filter(([first, second]) => first === second).length / items
  let products = 0
  for (const [label, count] of firsts) products += count * (seconds.get(label) ?? 0)
  const expected = products / (items * items)
  return { items, observed, expected, kappa: beyondChance(observed, expected) }
}

/** Agreement of two reviewers. */
export type PairAgreement = Agreement & { reviewers: [string, string] }

/** Computes the agreement of each pair of reviewers with common items, in order of their names. */
export function pairAgreements(labels: readonly GivenLabel[]): PairAgreement[] {
  const byPair = new Map<string, { reviewers: [string, string]; pairs: [string, string][] }>()
  for (const given of Map.groupBy(labels, ({ item }) => item).values()) {
    const sorted = given.toSorted((one, other) => (one.reviewer < other.reviewer ? -1 : 1))
    for (const [at, one] of sorted.entries()) {
      for (const other of sorted.slice(at + 1)) {
        const reviewers: [string, string] = [one.reviewer, other.reviewer]
        const key = JSON.stringify(reviewers)
        const pair = byPair.get(key) ?? { reviewers, pairs: [] }
        byPair.set(key, pair)
        pair.pairs.push([one.label, other.label])
      }
    }
  }
  return [...byPair]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { reviewers, pairs }]) => ({ reviewers, ...cohenKappa(pairs) }))
}

/**
 * Computes κ of Fleiss (1971) over the items with at least two labels: the agreement of any number
 * of reviewers, who may differ from item to item. The expected share uses the frequencies of labels
 * of all reviewers together, so with two reviewers κ is at most that of Cohen.
 */
export function fleissKappa(labels: readonly GivenLabel[]): Agreement {
  const rated = [...Map.groupBy(labels, ({ item }) => item).values()].filter(
    (given) => given.length > 1,
  )
  const items = rated.length
  if (items === 0) return { items, observed: null, expected: null, kappa: null }
  const agreed = rated.reduce((sum, given) => {
    const n = given.length
    const counts = countLabels(given.map(({ label }) => label)).values()
    return sum + counts.reduce((same, count) => same + count * (count - 1), 0) / (n * (n - 1))
  }, 0)
  const all = rated.flat().map(({ label }) => label)
  const shares = [...countLabels(all).values()].map((count) => count / all.length)
  const expected = shares.reduce((sum, share) => sum + share * share, 0)
  const observed = agreed / items
  return { items, observed, expected, kappa: beyondChance(observed, expected) }
}

function beyondChance(observed: number, expected: number): number | null {
  return 1 - expected < 1e-12 ? null : (observed - expected) / (1 - expected)
}

function countLabels(labels: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1)
  return counts
}

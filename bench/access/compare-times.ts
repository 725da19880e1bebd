/** Times of one kind of input, and how its distribution differs from that of the first kind. */
export type Compared = {
  kind: string
  /** Median time of a call, in nanoseconds. */
  median_ns: number
  /** Probability that a time of this kind is longer than one of the first kind. 0.5: no difference. */
  longer: number
  /** Two-sided p value of the Mann–Whitney U test against the first kind. */
  p: number
}

export type Times = Readonly<Record<string, readonly number[]>>

/** Compares the times of each kind with those of the first one. */
export function compareTimes(times: Times): Compared[] {
  const [first = []] = Object.values(times)
  return Object.entries(times).map(([kind, of]) => ({
    kind,
    median_ns: Math.round(median(of)),
    ...mannWhitney(of, first),
  }))
}

/**
 * Mann–Whitney U with the normal approximation, which is close above twenty values a side
 * (https://en.wikipedia.org/wiki/Mann–Whitney_U_test). Equal values get their mean rank.
 */
function mannWhitney(a: readonly number[], b: readonly number[]): { longer: number; p: number } {
  const all = [
    ...a.map((value) => ({ value, isA: true })),
    ...b.map((value) => ({ value, isA: false })),
  ]
  all.sort((x, y) => x.value - y.value)
  let ranksOfA = 0
  let ties = 0
  for (let start = 0; start < all.length; ) {
    let end = start
    while (end < all.length && all[end]?.value === all[start]?.value) end += 1
    const rank = (start + 1 + end) / 2
    ranksOfA += rank * all.slice(start, end).filter(({ isA }) => isA).length
    ties += (end - start) ** 3 - (end - start)
    start = end
  }
  const pairs = a.length * b.length
  const u = ranksOfA - (a.length * (a.length + 1)) / 2
  const n = all.length
  const variance = (pairs / 12) * (n + 1 - ties / (n * (n - 1)))
  const z = variance === 0 ? 0 : (u - pairs / 2) / Math.sqrt(variance)
  return { longer: u / pairs, p: 2 * normalTail(Math.abs(z)) }
}

/** The upper tail of the standard normal distribution, within 7.5e-8 (Abramowitz and Stegun 26.2.17). */
function normalTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z)
  const factors = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153]
  const sum = factors.reduce((rest, factor) => (rest + factor) * t, 0)
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * sum
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

/** Formats a comparison as a Markdown table. */
export function tableOf(title: string, rows: readonly Compared[]): string {
  const lines = rows.map(
    ({ kind, median_ns, longer, p }) =>
      `| ${kind} | ${median_ns.toLocaleString('en')} | ${longer.toFixed(3)} | ${p.toFixed(3)} |`,
  )
  return [
    `| ${title} | median, ns | longer than the first | p |`,
    '|---|---|---|---|',
    ...lines,
  ].join('\n')
}

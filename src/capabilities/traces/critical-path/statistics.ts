/** The 97.5 % point of the normal distribution: bounds that hold in 95 of 100 cases. */
const z95 = 1.959964

/** The lower bound of a rate, Wilson's score interval at 95 %; 0 for nothing of nothing. */
export function wilsonLowerBound(hits: number, of: number): number {
  if (of === 0) return 0
  const rate = hits / of
  const square = z95 * z95
  const centre = rate + square / (2 * of)
  const spread = z95 * Math.sqrt((rate * (1 - rate)) / of + square / (4 * of * of))
  return clamp((centre - spread) / (1 + square / of))
}

/** The mean of shares and its bounds at 95 %, by the normal distribution; of one value, 0 to 1. */
export function meanWithBounds(shares: readonly number[]): {
  mean: number
  low: number
  high: number
} {
  const of = shares.length
  if (of === 0) return { mean: 0, low: 0, high: 1 }
  const mean = clamp(shares.reduce((all, share) => all + share, 0) / of)
  if (of === 1) return { mean, low: 0, high: 1 }
  const squares = shares.reduce((all, share) => all + (share - mean) ** 2, 0)
  const half = z95 * Math.sqrt(squares / (of - 1) / of)
  return { mean, low: clamp(mean - half), high: clamp(mean + half) }
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}

import { incompleteBeta } from './incomplete-beta.ts'
import { quantileOfT } from './student-t.ts'
import { varianceDegrees } from './variance-degrees.ts'

/** Bounds of a rate, 0–1. */
export type RateInterval = readonly [low: number, high: number]

/**
 * Samples of one user (else conversation), and those of them that count as a success. k is a
 * fraction when a sample is an estimate from 0 to 1.
 */
export type Cluster = { n: number; k: number }

/**
 * Returns the exact interval of a rate with k of n successes, with `tail` of error a side: Clopper
 * and Pearson (1934). Assumes independent samples. n and k may be fractions, 0 ≤ k ≤ n, n above 0.
 */
export function clopperPearson({ n, k }: Cluster, tail: number): RateInterval {
  const low = k <= 0 ? 0 : quantileOfBeta(tail, k, n - k + 1)
  const high = k >= n ? 1 : quantileOfBeta(1 - tail, k + 1, n - k)
  return [low, high]
}

/**
 * Returns the interval of a rate over clusters, with `tail` of error a side: Clopper and Pearson at
 * the effective sample size. Returns undefined like `effectiveSize`.
 */
export function kornGraubard(clusters: readonly Cluster[], tail: number): RateInterval | undefined {
  const effective = effectiveSize(clusters, tail)
  if (effective === undefined) return undefined
  const n = clusters.reduce((sum, one) => sum + one.n, 0)
  const k = clusters.reduce((sum, one) => sum + one.k, 0)
  return clopperPearson({ n: effective, k: effective * (k / n) }, tail)
}

/**
 * Returns the effective sample size of Korn and Graubard (1998) for a rate over clusters: the number
 * of independent samples that say as much, n* = p(1 − p)/v · (t₍n−1₎/t₍d₎)², at most n. v sums the
 * squared residuals of the C clusters, each divided by 1 − (its share of the samples), as HC3 does:
 * without that, large clusters hide their own influence. d are the degrees of freedom of v. Without
 * any variance between the samples it is n. Returns undefined for fewer than 2 clusters, or a cluster
 * without samples or with impossible counts.
 */
export function effectiveSize(clusters: readonly Cluster[], tail: number): number | undefined {
  if (clusters.length < 2 || !clusters.every(isPossible)) return undefined
  const n = clusters.reduce((sum, one) => sum + one.n, 0)
  const k = clusters.reduce((sum, one) => sum + one.k, 0)
  const rate = k / n
  const squares = clusters.map((one) => ((one.k - rate * one.n) / (1 - one.n / n)) ** 2)
  const variance = squares.reduce((sum, one) => sum + one, 0) / (n * n)
  if (k === 0 || k === n || variance <= 1e-15) return n
  const sizes = clusters.map((one) => one.n)
  const degrees = varianceDegrees({ sizes, squares, rate })
  const quantiles = quantileOfT(tail, n - 1) / quantileOfT(tail, degrees)
  return Math.min(n, ((rate * (1 - rate)) / variance) * quantiles ** 2)
}

/** NaN fails each comparison, so it is impossible. */
function isPossible({ n, k }: Cluster): boolean {
  return Number.isInteger(n) && n > 0 && k >= 0 && k <= n
}

/** Returns the x with I_x(a, b) = p, by bisection. */
function quantileOfBeta(p: number, a: number, b: number): number {
  let [low, high] = [0, 1]
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2
    if (incompleteBeta(middle, a, b) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}

import { incompleteBeta } from './incomplete-beta.ts'
import { quantileOfT } from './student-t.ts'

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

/** Sizes of clusters, and the squared residuals (HC3) of a rate in them. */
type Residuals = { sizes: readonly number[]; squares: readonly number[]; rate: number }

/**
 * Returns the degrees of freedom of the variance of a rate over C clusters, from 1 to C − 1.
 * Satterthwaite's, under a working model in which the samples of a cluster are equally correlated
 * (Bell and McCaffrey 2002; Imbens and Kolesár 2016): a few large clusters carry most of the
 * variance. It is then divided by (κ − 1)/2 for the kurtosis κ of the standardised residuals, which
 * is 1 for normal ones (the variance of the variance is estimated, as Pan and Wall 2002 do): so do
 * a few users with bad moods.
 */
export function varianceDegrees(residuals: Residuals): number {
  const variances = workingVariances(residuals)
  const degrees = modelDegrees(residuals.sizes, variances)
  const standardised = residuals.squares.map((square, at) => square / (variances[at] ?? 1))
  const mean = sum(standardised) / standardised.length
  const kurtosis = sum(standardised.map((one) => one ** 2)) / standardised.length / mean ** 2
  const corrected = Math.min(degrees, (2 * degrees) / Math.max(1e-9, kurtosis - 1))
  return Math.max(1, Math.min(residuals.sizes.length - 1, corrected))
}

/** Returns the variances of clusters, up to a factor: m(1 + (m − 1)ρ), with ρ by its moments. */
function workingVariances({ sizes, squares, rate }: Residuals): number[] {
  const n = sum(sizes)
  const pairs = sum(sizes.map((size) => size * (size - 1)))
  const excess = sum(squares) / (rate * (1 - rate)) - n
  const correlation = pairs > 0 ? Math.max(0, Math.min(1, excess / pairs)) : 0
  return sizes.map((size) => size * (1 + (size - 1) * correlation))
}

/**
 * Returns tr(MΣ)² / tr((MΣ)²), where yᵀMy is the variance as a form of the sums y of the clusters,
 * and Σ holds the working variances: M = diag(a) − u1ᵀ − 1uᵀ + c11ᵀ.
 */
function modelDegrees(sizes: readonly number[], variances: readonly number[]): number {
  const n = sum(sizes)
  const shares = sizes.map((size) => size / n)
  const a = shares.map((share) => 1 / (1 - share) ** 2)
  const u = shares.map((share, at) => share * (a[at] ?? 0))
  const c = sum(shares.map((share, at) => share * (u[at] ?? 0)))
  const moment = (power: number) => sum(variances.map((v, at) => v * (u[at] ?? 0) ** power))
  const [s0, s1, s2] = [moment(0), moment(1), moment(2)]
  const outside = variances.map((_, at) => c - 2 * (u[at] ?? 0))
  const trace = sum(variances.map((v, at) => v * ((a[at] ?? 0) + (outside[at] ?? 0))))
  const squared = c ** 2 * s0 ** 2 - 4 * c * s0 * s1 + 2 * s0 * s2 + 2 * s1 ** 2
  const diagonal = sum(
    variances.map((v, at) => v ** 2 * (a[at] ?? 0) * ((a[at] ?? 0) + 2 * (outside[at] ?? 0))),
  )
  return trace ** 2 / (squared + diagonal)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
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

import { quantileOfT } from '../../../kernel/statistics/student-t.ts'
import type { Interval } from './bounds.ts'

/** Samples of one user (else conversation): their number, and the sum of their values. */
export type ClusterSum = { n: number; sum: number }

/** A mean with the variance of the mean between clusters. */
export type ClusteredMean = { n: number; clusters: number; mean: number; variance: number }

/**
 * Returns the mean over clusters. The residual of each cluster is divided by 1 − (its share of the
 * samples), as HC3 does. Undefined for fewer than 2 clusters, an empty one, or values that are not
 * finite.
 */
export function clusteredMean(clusters: readonly ClusterSum[]): ClusteredMean | undefined {
  const n = clusters.reduce((total, one) => total + one.n, 0)
  const mean = clusters.reduce((total, one) => total + one.sum, 0) / n
  if (clusters.length < 2 || !Number.isFinite(mean) || clusters.some((one) => !(one.n > 0))) {
    return undefined
  }
  const squares = clusters.map((one) => ((one.sum - mean * one.n) / (1 - one.n / n)) ** 2)
  const variance = squares.reduce((total, one) => total + one, 0) / (n * n)
  return {
    n,
    clusters: clusters.length,
    mean,
    variance: hasVariance(variance, mean) ? variance : 0,
  }
}

/** Whether a variance is more than the rounding of its mean. */
function hasVariance(variance: number, mean: number): boolean {
  return Math.sqrt(variance) > 1e-12 * Math.abs(mean)
}

/**
 * Returns the interval of a mean, with `tail` of error a side: Student's t with C − 1 degrees of
 * freedom. Undefined without variance: equal values say nothing about the error.
 */
export function meanInterval(
  { mean, variance, clusters }: ClusteredMean,
  tail: number,
): Interval | undefined {
  if (!(variance > 0)) return undefined
  const margin = quantileOfT(tail, clusters - 1) * Math.sqrt(variance)
  return [mean - margin, mean + margin]
}

/**
 * Returns the interval of a − b for independent means: Welch's t with the degrees of freedom of
 * Satterthwaite. Undefined when one of them has no variance.
 */
export function meanDifference(
  a: ClusteredMean,
  b: ClusteredMean,
  tail: number,
): Interval | undefined {
  if (!(a.variance > 0 && b.variance > 0)) return undefined
  const variance = a.variance + b.variance
  const degrees =
    variance ** 2 / (a.variance ** 2 / (a.clusters - 1) + b.variance ** 2 / (b.clusters - 1))
  const margin = quantileOfT(tail, degrees) * Math.sqrt(variance)
  return [a.mean - b.mean - margin, a.mean - b.mean + margin]
}

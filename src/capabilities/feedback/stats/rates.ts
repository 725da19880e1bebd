import {
  clopperPearson,
  effectiveSize,
  type RateInterval,
} from '../../../kernel/statistics/rate-interval.ts'
import type { ClusterCounts } from '../counting/counts-store.ts'
import type { Votes } from './stats-store.ts'

/** Error of an interval on each side: 95 % confidence. */
const tail = 0.025

/**
 * A rate of negative votes with its interval, 0–1; null without votes, or with fewer than 2 users.
 */
export type Rate = { rate: number | null; interval: [low: number, high: number] | null }

/**
 * Returns the rate of negative votes with the interval of Korn and Graubard, because votes of one
 * user are not independent samples. The window of the clusters may differ slightly: they decide
 * only how many independent votes a vote is worth.
 */
export function toRate(
  { negative, all }: { negative: number; all: number },
  clusters: readonly ClusterCounts[],
): Rate {
  if (all === 0) return { rate: null, interval: null }
  const worth = independentShare(clusters)
  const rate = negative / all
  if (worth === null) return { rate, interval: null }
  return { rate, interval: [...clopperPearson({ n: all * worth, k: negative * worth }, tail)] }
}

/**
 * Returns the effective sample size of clusters divided by their votes, 0–1; null for fewer than
 * two clusters.
 */
export function independentShare(clusters: readonly ClusterCounts[]): number | null {
  const all = clusters.reduce((sum, [, n]) => sum + n, 0)
  const size = effectiveSize(
    clusters.map(([, n, k]) => ({ n, k })),
    tail,
  )
  return size === undefined ? null : size / all
}

const z = 1.959964

/** Returns the interval of Wilson (1927) for a rate; n may be a fraction. For display only. */
export function wilson({ n, k }: { n: number; k: number }): RateInterval {
  const rate = k / n
  const centre = (rate + (z * z) / (2 * n)) / (1 + (z * z) / n)
  const reach = (z / (1 + (z * z) / n)) * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n))
  return [Math.max(0, centre - reach), Math.min(1, centre + reach)]
}

/** Returns the number of votes. */
export function sumVotes({ negative, neutral, positive }: Votes): number {
  return negative + neutral + positive
}

/** Returns the time buckets of a window, ISO 8601, in order. */
export function bucketsOf(
  { from, to }: { from: string; to: string },
  unit: 'hour' | 'day',
): string[] {
  const step_ms = unit === 'hour' ? 3_600_000 : 86_400_000
  const from_ms = Date.parse(from)
  const buckets: string[] = []
  for (let at_ms = from_ms - (from_ms % step_ms); at_ms < Date.parse(to); at_ms += step_ms) {
    buckets.push(new Date(at_ms).toISOString())
  }
  return buckets
}

/**
 * Durations are counted in buckets whose bounds grow by a factor of 2^¼ (about 1.2) from 0.25 ms to
 * 10 minutes. Counts of many processes add up, and percentiles are at most 10 % off.
 */
const least_ms = 0.25

const steps_per_doubling = 4

/** Number of buckets. The last one has no upper bound. */
export const durationBuckets = 86

/** Returns the bucket of a duration. */
export function bucketOf(duration_ms: number): number {
  if (duration_ms <= least_ms) return 0
  const step = Math.ceil(Math.log2(duration_ms / least_ms) * steps_per_doubling)
  return Math.min(step, durationBuckets - 1)
}

/** Returns a percentile of the counted durations; null without any. */
export function percentileOf(histogram: readonly number[], share: number): number | null {
  const all = histogram.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let seen = 0
  for (const [bucket, count] of histogram.entries()) {
    seen += count
    // The geometric middle of the bucket.
    if (seen >= share * all) return rounded(upperBound(bucket) / 2 ** (0.5 / steps_per_doubling))
  }
  return rounded(upperBound(histogram.length - 1))
}

function upperBound(bucket: number): number {
  return least_ms * 2 ** (bucket / steps_per_doubling)
}

/** Rounds to three digits, the precision of the counts. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

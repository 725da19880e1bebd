/**
 * Durations are counted in buckets whose bounds grow by a fifth (2^¼) from 0.25 ms to 10 minutes, so
 * that counts of many processes add up, and a percentile of them is at most a tenth off.
 */
const least_ms = 0.25
const steps_per_doubling = 4

/** Buckets: the last one has all that took longer. */
export const durationBuckets = 86

/** The bucket of a duration. */
export function bucketOf(duration_ms: number): number {
  if (duration_ms <= least_ms) return 0
  const step = Math.ceil(Math.log2(duration_ms / least_ms) * steps_per_doubling)
  return Math.min(step, durationBuckets - 1)
}

/** The duration that this share of those counted did not exceed; null when none were. */
export function percentileOf(histogram: readonly number[], share: number): number | null {
  const all = histogram.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let seen = 0
  for (const [bucket, count] of histogram.entries()) {
    seen += count
    // The middle of the bucket, by ratio.
    if (seen >= share * all) return rounded(upperBound(bucket) / 2 ** (0.5 / steps_per_doubling))
  }
  return rounded(upperBound(histogram.length - 1))
}

function upperBound(bucket: number): number {
  return least_ms * 2 ** (bucket / steps_per_doubling)
}

/** Three digits say all that is known. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

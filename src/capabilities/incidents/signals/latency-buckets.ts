/**
 * Buckets of latencies in ms, so that percentiles of minutes can be added up: bucket 0 is below
 * 10 ms, each of the next 62 is 2^0.3 times as wide as its neighbour below, and the last one begins at
 * 66 minutes. The value of a bucket is its geometric middle, which is at most 11 % (2^0.15) from
 * every latency between 10 ms and 66 minutes.
 */
const least_ms = 10
const step = 0.3
const last = 63

/** Makes the SQL expression of the bucket of a latency. */
export function bucketOf(latency: string): string {
  return `toUInt8(if(${latency} < ${least_ms}, 0, least(${last}, 1 + floor(log2(${latency} / ${least_ms}) / ${step}))))`
}

/** Makes the SQL expression of the value of a bucket. */
function bucketValue(bucket: string): string {
  return `${least_ms} * exp2(${step} * ${bucket} - ${step / 2})`
}

/** Makes a cell: the 95th percentile by nearest rank of counts by bucket, and their sum. */
export function bucketsRank(counts: string): string {
  const count = `arraySum(mapValues(${counts}))`
  const rank = `intDiv(95 * ${count} + 99, 100)`
  const at = `arrayFirstIndex(one -> one >= ${rank}, arrayCumSum(mapValues(${counts})))`
  return `(if(${count} = 0, NULL, ${bucketValue(`mapKeys(${counts})[${at}]`)}), ${count})`
}

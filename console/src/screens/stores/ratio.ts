/**
 * Says how much faster a store was, from the duration of PostgreSQL divided by that of ClickHouse:
 * `PostgreSQL 3.2× faster`. Within a tenth, they are equal.
 */
export function ratioText(ratio: number | null): string {
  if (ratio === null || !Number.isFinite(ratio) || ratio <= 0) return 'not compared'
  if (ratio > 1 / 1.1 && ratio < 1.1) return 'about equal'
  const [store, times] = ratio < 1 ? ['PostgreSQL', 1 / ratio] : ['ClickHouse', ratio]
  return `${store} ${times >= 10 ? Math.round(times) : times.toFixed(1)}× faster`
}

/** Returns the ratio of two medians; null if one store did not answer. */
export function ratioOf(
  stores: readonly { store: string; median_ms: number | null }[],
): number | null {
  const medianOf = (name: string) => stores.find(({ store }) => store === name)?.median_ms ?? null
  const [postgres, clickhouse] = [medianOf('postgres'), medianOf('clickhouse')]
  return postgres === null || clickhouse === null || clickhouse === 0 ? null : postgres / clickhouse
}

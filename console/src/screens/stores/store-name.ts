/** Returns the name of a store as people write it. */
export function storeName(store: string): string {
  return { clickhouse: 'ClickHouse', postgres: 'PostgreSQL' }[store] ?? store
}

/** Bounds of a query's body. Above a bound the answer is 400 and names the bound. */
export const queryLimits = {
  /** Conditions, and the `and`, `or` and `not` around them. */
  clauses_max: 1_000,
  depth_max: 20,
  select_max: 100,
  order_by_max: 5,
  in_values_max: 1_000,
  text_characters_max: 2_048,
  /** Parameters are sent in the URL: ClickHouse takes 1 MiB in all, and 128 KiB for each. */
  in_bytes_max: 60_000,
  values_bytes_max: 200_000,
  map_key_characters_max: 256,
  window_days_max: 90,
  rows_max: 10_000,
  rows_default: 50,
  measures_max: 20,
  group_by_max: 5,
  buckets_max: 5_000,
  top_max: 100,
} as const

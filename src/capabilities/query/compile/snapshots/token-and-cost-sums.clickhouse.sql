SELECT user_id AS c0,
  (ifNull(sum(toInt128(input_uncached_tokens)), 0) + ifNull(sum(toInt128(cache_read_tokens)), 0) + ifNull(sum(toInt128(cache_write_tokens)), 0) + ifNull(sum(toInt128(output_visible_tokens)), 0) + ifNull(sum(toInt128(reasoning_tokens)), 0)) AS c1,
  toString(ifNull(sum(cost_usd), 0)) AS c2,
  countIf(has_error) / count() AS c3,
  toFloat64(count(*)) / ({p2:Int64} - {p1:Int64}) * 1000000000 AS c4
FROM (
  SELECT user_id, input_uncached_tokens, cache_read_tokens, cache_write_tokens, output_visible_tokens, reasoning_tokens, cost_usd, (status = 'error') AS has_error, ((type IN ('generation', 'embedding') AND counted_with = '')) AS is_call
  FROM observations FINAL
  WHERE project_id = {p0:UUID}
    AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
    AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
) AS record
WHERE is_call = {p3:Bool}
GROUP BY user_id
HAVING coalesce(ifNull(sum(cost_usd), 0) > {p4:Decimal(38, 9)}, false)
ORDER BY (ifNull(sum(toInt128(input_uncached_tokens)), 0) + ifNull(sum(toInt128(cache_read_tokens)), 0) + ifNull(sum(toInt128(cache_write_tokens)), 0) + ifNull(sum(toInt128(output_visible_tokens)), 0) + ifNull(sum(toInt128(reasoning_tokens)), 0)) DESC NULLS LAST, nullIf(user_id, '') ASC NULLS LAST
LIMIT {p5:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: true
-- 4: "1.5"
-- 5: 51

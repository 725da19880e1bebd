SELECT model AS c0,
  (intDiv(toUnixTimestamp64Nano(start_time) - {p5:Int64}, {p4:Int64}) * {p4:Int64} + {p5:Int64}) AS c1,
  (ifNull(sum(toInt128(input_uncached_tokens)), 0) + ifNull(sum(toInt128(cache_read_tokens)), 0) + ifNull(sum(toInt128(cache_write_tokens)), 0) + ifNull(sum(toInt128(output_visible_tokens)), 0) + ifNull(sum(toInt128(reasoning_tokens)), 0)) AS c2
FROM (
  SELECT model, start_time, input_uncached_tokens, cache_read_tokens, cache_write_tokens, output_visible_tokens, reasoning_tokens
  FROM (
    SELECT model, start_time, input_uncached_tokens, cache_read_tokens, cache_write_tokens, output_visible_tokens, reasoning_tokens, trace_id, observation_id, ingested_at, message_id, 0 AS is_restored
    FROM observations
    WHERE project_id = {p0:UUID}
      AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
      AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
    UNION ALL
    SELECT model, start_time, input_uncached_tokens, cache_read_tokens, cache_write_tokens, output_visible_tokens, reasoning_tokens, trace_id, observation_id, ingested_at, message_id, 1 AS is_restored
    FROM restored_observations
    WHERE project_id = {p0:UUID}
      AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
      AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
      AND slice_id IN {p3:Array(UUID)}
  ) AS version
  ORDER BY start_time ASC, trace_id ASC, observation_id ASC, ingested_at DESC, message_id DESC, is_restored
  LIMIT 1 BY start_time, trace_id, observation_id
) AS record
GROUP BY model, (intDiv(toUnixTimestamp64Nano(start_time) - {p5:Int64}, {p4:Int64}) * {p4:Int64} + {p5:Int64})
ORDER BY (intDiv(toUnixTimestamp64Nano(start_time) - {p5:Int64}, {p4:Int64}) * {p4:Int64} + {p5:Int64}) ASC NULLS LAST, nullIf(model, '') ASC NULLS LAST
LIMIT {p6:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: ["0198c0de-0000-7000-8000-0000000000b1","0198c0de-0000-7000-8000-0000000000b2"]
-- 4: "3600000000000n"
-- 5: "0n"
-- 6: 51

SELECT model AS c0,
  (intDiv(toUnixTimestamp64Nano(start_time) - {p5:Int64}, {p4:Int64}) * {p4:Int64} + {p5:Int64}) AS c1,
  quantileExactInclusiveOrNull(0.95)(toFloat64(duration_ms)) AS c2
FROM (
  SELECT model, start_time, ((toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time)) / 1000000) AS duration_ms, ((type IN ('generation', 'embedding') AND counted_with = '')) AS is_call
  FROM observations FINAL
  WHERE project_id = {p0:UUID}
    AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
    AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
) AS record
WHERE is_call = {p3:Bool}
GROUP BY model, (intDiv(toUnixTimestamp64Nano(start_time) - {p5:Int64}, {p4:Int64}) * {p4:Int64} + {p5:Int64})
ORDER BY (intDiv(toUnixTimestamp64Nano(start_time) - {p5:Int64}, {p4:Int64}) * {p4:Int64} + {p5:Int64}) ASC NULLS LAST, nullIf(model, '') ASC NULLS LAST
LIMIT {p6:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: true
-- 4: "3600000000000n"
-- 5: "0n"
-- 6: 51

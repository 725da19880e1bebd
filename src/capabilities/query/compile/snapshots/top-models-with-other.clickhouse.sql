SELECT (intDiv(toUnixTimestamp64Nano(start_time) - {p4:Int64}, {p3:Int64}) * {p3:Int64} + {p4:Int64}) AS c0,
  CASE WHEN in_top THEN model END AS c1,
  (NOT in_top) AS c2,
  count(*) AS c3
FROM (
  SELECT *, (model) GLOBAL IN (SELECT model FROM (SELECT model, start_time
  FROM observations FINAL
  WHERE project_id = {p0:UUID}
    AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
    AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')) AS record
    GROUP BY model ORDER BY count(*) DESC NULLS LAST, nullIf(model, '') ASC NULLS LAST
    LIMIT {p5:Int64}) AS in_top
  FROM (SELECT model, start_time
  FROM observations FINAL
  WHERE project_id = {p0:UUID}
    AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
    AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')) AS record
) AS record
GROUP BY (intDiv(toUnixTimestamp64Nano(start_time) - {p4:Int64}, {p3:Int64}) * {p3:Int64} + {p4:Int64}), CASE WHEN in_top THEN model END, (NOT in_top)
ORDER BY (intDiv(toUnixTimestamp64Nano(start_time) - {p4:Int64}, {p3:Int64}) * {p3:Int64} + {p4:Int64}) ASC NULLS LAST, nullIf(CASE WHEN in_top THEN model END, '') ASC NULLS LAST, (NOT in_top) ASC NULLS LAST
LIMIT {p6:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: "86400000000000n"
-- 4: "0n"
-- 5: 3
-- 6: 51

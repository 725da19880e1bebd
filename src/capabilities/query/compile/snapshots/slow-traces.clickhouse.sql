SELECT trace_id AS c0,
  name AS c1,
  duration_ms AS c2,
  toString(cost_usd) AS c3,
  m4 AS c4,
  reinterpretAsUInt64(toFloat64(duration_ms)) AS k0,
  toString(trace_id) AS k1
FROM (
  SELECT g.trace_id AS trace_id, g.duration_ms AS duration_ms, g.cost_usd AS cost_usd, if(r.name != '', r.name, g.name) AS name, r.metadata[{p5:String}] AS m4
  FROM (SELECT o.trace_id AS trace_id, argMin(o.name, (o.parent_observation_id != '', o.start_time, o.observation_id)) AS name, (toUnixTimestamp64Nano(max(o.end_time)) - toUnixTimestamp64Nano(min(o.start_time))) / 1000000 AS duration_ms, sumIf(ifNull(o.cost_usd, toDecimal64(0, 9)), o.is_call) AS cost_usd
  FROM (SELECT trace_id, start_time, name, parent_observation_id, observation_id, end_time, ((type IN ('generation', 'embedding') AND counted_with = '')) AS is_call, cost_usd
  FROM observations FINAL
  WHERE project_id = {p0:UUID}
    AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
    AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')) AS o
  GROUP BY o.trace_id
  HAVING min(o.start_time) >= fromUnixTimestamp64Nano({p3:Int64}, 'UTC') AND min(o.start_time) < fromUnixTimestamp64Nano({p4:Int64}, 'UTC')) AS g
  LEFT JOIN (SELECT trace_id, name, metadata FROM traces
  WHERE project_id = {p0:UUID}
    AND toYYYYMM(time) >= toYYYYMM(fromUnixTimestamp64Nano({p1:Int64}, 'UTC'))
    AND toYYYYMM(time) <= toYYYYMM(fromUnixTimestamp64Nano({p2:Int64}, 'UTC'))
  ORDER BY ingested_at DESC, message_id DESC
  LIMIT 1 BY trace_id) AS r ON r.trace_id = g.trace_id
) AS page
WHERE duration_ms > {p6:Float64}
ORDER BY duration_ms DESC, trace_id DESC
LIMIT {p7:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793404800000000000n"
-- 2: "1794182400000000000n"
-- 3: "1793491200000000000n"
-- 4: "1794096000000000000n"
-- 5: "tenant"
-- 6: 1000
-- 7: 51

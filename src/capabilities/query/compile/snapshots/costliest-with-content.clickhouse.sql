SELECT trace_id AS c0,
  toString(cost_usd) AS c1,
  input AS c2,
  m3 AS c3,
  isNull(cost_usd) AS k0,
  toString(ifNull(cost_usd, toDecimal64(0, 9))) AS k1,
  toUnixTimestamp64Nano(start_time) AS k2,
  toString(trace_id) AS k3,
  toString(observation_id) AS k4
FROM (
  SELECT trace_id, cost_usd, input, (metadata[{p1:String}]) AS m3, start_time, observation_id
  FROM observations
  WHERE project_id = {p2:UUID}
    AND start_time >= fromUnixTimestamp64Nano({p3:Int64}, 'UTC')
    AND start_time < fromUnixTimestamp64Nano({p4:Int64}, 'UTC')
    AND (start_time, trace_id, observation_id) GLOBAL IN (SELECT start_time, trace_id, observation_id
FROM (
  SELECT start_time, trace_id, observation_id, cost_usd, ((type IN ('generation', 'embedding') AND counted_with = '')) AS is_call, (attributes[{p0:String}]) AS m5, (metadata[{p1:String}]) AS m6
  FROM observations
  WHERE project_id = {p2:UUID}
    AND start_time >= fromUnixTimestamp64Nano({p3:Int64}, 'UTC')
    AND start_time < fromUnixTimestamp64Nano({p4:Int64}, 'UTC')
  ORDER BY start_time DESC, trace_id DESC, observation_id DESC, ingested_at DESC, message_id DESC
  LIMIT 1 BY start_time, trace_id, observation_id
) AS page
WHERE is_call = {p5:Bool}
  AND NOT (coalesce(if(match(m5, '^-?[0-9]{1,18}([.][0-9]{1,18})?$'), toFloat64OrNull(m5), NULL) < {p6:Float64}, false))
  AND m6 IN {p7:Array(String)}
ORDER BY isNull(cost_usd) ASC, ifNull(cost_usd, toDecimal64(0, 9)) DESC, start_time DESC, trace_id DESC, observation_id DESC
LIMIT {p8:Int64})
  ORDER BY start_time DESC, trace_id DESC, observation_id DESC, ingested_at DESC, message_id DESC
  LIMIT 1 BY start_time, trace_id, observation_id
) AS page
ORDER BY isNull(cost_usd) ASC, ifNull(cost_usd, toDecimal64(0, 9)) DESC, start_time DESC, trace_id DESC, observation_id DESC
LIMIT {p8:Int64}
-- 0: "http.status"
-- 1: "tenant"
-- 2: "0198c0de-0000-7000-8000-0000000000aa"
-- 3: "1793491200000000000n"
-- 4: "1794096000000000000n"
-- 5: true
-- 6: 400
-- 7: ["a","b"]
-- 8: 51

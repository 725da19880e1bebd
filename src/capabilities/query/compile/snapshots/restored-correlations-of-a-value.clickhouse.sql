SELECT trace_id AS c0,
  observation_id AS c1,
  toUnixTimestamp64Nano(time) AS c2,
  source AS c3,
  correlation_type AS c4,
  correlation_value AS c5,
  toUnixTimestamp64Nano(time) AS k0,
  toString(correlation_type) AS k1,
  toString(correlation_value) AS k2,
  toString(trace_id) AS k3,
  toString(observation_id) AS k4
FROM (
  SELECT trace_id, observation_id, time, source, correlation_type, correlation_value
  FROM (
    SELECT trace_id, observation_id, time, source, correlation_type, correlation_value, ingested_at, message_id, 0 AS is_restored
    FROM correlations
    WHERE project_id = {p0:UUID}
      AND toYYYYMM(time) >= toYYYYMM(fromUnixTimestamp64Nano({p1:Int64}, 'UTC'))
      AND toYYYYMM(time) <= toYYYYMM(fromUnixTimestamp64Nano({p2:Int64}, 'UTC'))
      AND correlation_value = {p3:String}
    UNION ALL
    SELECT trace_id, observation_id, time, source, correlation_type, correlation_value, ingested_at, message_id, 1 AS is_restored
    FROM restored_correlations
    WHERE project_id = {p0:UUID}
      AND toYYYYMM(time) >= toYYYYMM(fromUnixTimestamp64Nano({p1:Int64}, 'UTC'))
      AND toYYYYMM(time) <= toYYYYMM(fromUnixTimestamp64Nano({p2:Int64}, 'UTC'))
      AND correlation_value = {p3:String}
      AND slice_id IN {p4:Array(UUID)}
  ) AS version
  ORDER BY correlation_type DESC, correlation_value DESC, trace_id DESC, observation_id DESC, ingested_at DESC, message_id DESC, is_restored
  LIMIT 1 BY correlation_type, correlation_value, trace_id, observation_id
) AS page
WHERE time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
  AND time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
ORDER BY time DESC, correlation_type DESC, correlation_value DESC, trace_id DESC, observation_id DESC
LIMIT {p5:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: "order-1"
-- 4: ["0198c0de-0000-7000-8000-0000000000b1","0198c0de-0000-7000-8000-0000000000b2"]
-- 5: 51

SELECT trace_id AS c0,
  name AS c1,
  duration_ms AS c2,
  m3 AS c3,
  reinterpretAsUInt64(toFloat64(duration_ms)) AS k0,
  toString(trace_id) AS k1
FROM (
  SELECT g.trace_id AS trace_id, g.duration_ms AS duration_ms, if(r.name != '', r.name, g.name) AS name, r.metadata[{p6:String}] AS m3
  FROM (SELECT o.trace_id AS trace_id, argMin(o.name, (o.parent_observation_id != '', o.start_time, o.observation_id)) AS name, (toUnixTimestamp64Nano(max(o.end_time)) - toUnixTimestamp64Nano(min(o.start_time))) / 1000000 AS duration_ms
  FROM (SELECT trace_id, start_time, name, parent_observation_id, observation_id, end_time
  FROM (
    SELECT trace_id, start_time, name, parent_observation_id, observation_id, end_time, ingested_at, message_id, 0 AS is_restored
    FROM observations
    WHERE project_id = {p0:UUID}
      AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
      AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
    UNION ALL
    SELECT trace_id, start_time, name, parent_observation_id, observation_id, end_time, ingested_at, message_id, 1 AS is_restored
    FROM restored_observations
    WHERE project_id = {p0:UUID}
      AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
      AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
      AND slice_id IN {p3:Array(UUID)}
  ) AS version
  ORDER BY start_time DESC, trace_id DESC, observation_id DESC, ingested_at DESC, message_id DESC, is_restored
  LIMIT 1 BY start_time, trace_id, observation_id) AS o
  GROUP BY o.trace_id
  HAVING min(o.start_time) >= fromUnixTimestamp64Nano({p4:Int64}, 'UTC') AND min(o.start_time) < fromUnixTimestamp64Nano({p5:Int64}, 'UTC')) AS g
  LEFT JOIN (SELECT trace_id, name, metadata FROM (SELECT trace_id, name, metadata, ingested_at, message_id FROM traces WHERE project_id = {p0:UUID} AND toYYYYMM(time) >= toYYYYMM(fromUnixTimestamp64Nano({p1:Int64}, 'UTC')) AND toYYYYMM(time) <= toYYYYMM(fromUnixTimestamp64Nano({p2:Int64}, 'UTC'))
      UNION ALL SELECT trace_id, name, metadata, ingested_at, message_id FROM restored_traces WHERE project_id = {p0:UUID} AND toYYYYMM(time) >= toYYYYMM(fromUnixTimestamp64Nano({p1:Int64}, 'UTC')) AND toYYYYMM(time) <= toYYYYMM(fromUnixTimestamp64Nano({p2:Int64}, 'UTC')) AND slice_id IN {p7:Array(UUID)}) AS recorded
  WHERE 1 = 1
  ORDER BY ingested_at DESC, message_id DESC
  LIMIT 1 BY trace_id) AS r ON r.trace_id = g.trace_id
) AS page
ORDER BY duration_ms DESC, trace_id DESC
LIMIT {p8:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793404800000000000n"
-- 2: "1794182400000000000n"
-- 3: ["0198c0de-0000-7000-8000-0000000000b1","0198c0de-0000-7000-8000-0000000000b2"]
-- 4: "1793491200000000000n"
-- 5: "1794096000000000000n"
-- 6: "tenant"
-- 7: ["0198c0de-0000-7000-8000-0000000000b1","0198c0de-0000-7000-8000-0000000000b2"]
-- 8: 51

SELECT trace_id AS c0,
  name AS c1,
  toUnixTimestamp64Nano(start_time) AS k0,
  toString(trace_id) AS k1,
  toString(observation_id) AS k2
FROM (
  SELECT trace_id, name, start_time, observation_id
  FROM (
    SELECT trace_id, name, start_time, observation_id, ingested_at, message_id, 0 AS is_restored
    FROM observations
    WHERE project_id = {p0:UUID}
      AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
      AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
      AND start_time >= (
      SELECT if(count() > {p3:Int64}, min(start_time), fromUnixTimestamp64Nano({p1:Int64}, 'UTC')) FROM (
        SELECT DISTINCT start_time, trace_id FROM (
          SELECT start_time, trace_id FROM observations WHERE project_id = {p0:UUID} AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC') AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
          ORDER BY start_time DESC, trace_id DESC
          LIMIT {p4:Int64}
        ) AS latest
      ) AS records
    )
    UNION ALL
    SELECT trace_id, name, start_time, observation_id, ingested_at, message_id, 1 AS is_restored
    FROM restored_observations
    WHERE project_id = {p0:UUID}
      AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
      AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
      AND start_time >= (
      SELECT if(count() > {p3:Int64}, min(start_time), fromUnixTimestamp64Nano({p1:Int64}, 'UTC')) FROM (
        SELECT DISTINCT start_time, trace_id FROM (
          SELECT start_time, trace_id FROM observations WHERE project_id = {p0:UUID} AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC') AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
          ORDER BY start_time DESC, trace_id DESC
          LIMIT {p4:Int64}
        ) AS latest
      ) AS records
    )
      AND slice_id IN {p5:Array(UUID)}
  ) AS version
  ORDER BY start_time DESC, trace_id DESC, observation_id DESC, ingested_at DESC, message_id DESC, is_restored
  LIMIT 1 BY start_time, trace_id, observation_id
) AS page
ORDER BY start_time DESC, trace_id DESC, observation_id DESC
LIMIT {p6:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: 50
-- 4: 200
-- 5: ["0198c0de-0000-7000-8000-0000000000b1","0198c0de-0000-7000-8000-0000000000b2"]
-- 6: 51

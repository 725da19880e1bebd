SELECT toUnixTimestamp64Nano(time) AS c0,
  trace_id AS c1,
  body AS c2,
  toUnixTimestamp64Nano(time) AS k0,
  toString(trace_id) AS k1,
  toString(observation_id) AS k2,
  toString(event_id) AS k3
FROM (
  SELECT time, trace_id, body, observation_id, event_id
  FROM events
  WHERE project_id = {p0:UUID}
    AND time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
    AND time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
    AND (trace_id, time, observation_id, event_id) GLOBAL IN (SELECT trace_id, time, observation_id, event_id
FROM (
  SELECT trace_id, time, observation_id, event_id, name
  FROM events
  WHERE project_id = {p0:UUID}
    AND time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
    AND time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
  ORDER BY trace_id DESC, time DESC, observation_id DESC, event_id DESC, ingested_at DESC, message_id DESC
  LIMIT 1 BY trace_id, time, observation_id, event_id
) AS page
WHERE startsWith(name, {p3:String})
ORDER BY time DESC, trace_id DESC, observation_id DESC, event_id DESC
LIMIT {p4:Int64})
  ORDER BY trace_id DESC, time DESC, observation_id DESC, event_id DESC, ingested_at DESC, message_id DESC
  LIMIT 1 BY trace_id, time, observation_id, event_id
) AS page
ORDER BY time DESC, trace_id DESC, observation_id DESC, event_id DESC
LIMIT {p4:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: "exception"
-- 4: 51

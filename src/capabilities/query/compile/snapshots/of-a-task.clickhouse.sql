SELECT toUnixTimestamp64Nano(start_time) AS c0,
  name AS c1,
  toString(cost_usd) AS c2,
  toUnixTimestamp64Nano(start_time) AS k0,
  toString(trace_id) AS k1,
  toString(observation_id) AS k2
FROM (
  SELECT start_time, name, cost_usd, trace_id, observation_id, task_id
  FROM observations
  WHERE project_id = {p0:UUID}
    AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
    AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
    AND (start_time, trace_id, observation_id) GLOBAL IN (
      SELECT start_time, trace_id, observation_id FROM observations WHERE project_id = {p0:UUID} AND start_time >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC') AND start_time < fromUnixTimestamp64Nano({p2:Int64}, 'UTC') AND task_id = {p3:String}
    )
  ORDER BY start_time DESC, trace_id DESC, observation_id DESC, ingested_at DESC, message_id DESC
  LIMIT 1 BY start_time, trace_id, observation_id
) AS page
WHERE task_id = {p3:String}
ORDER BY start_time DESC, trace_id DESC, observation_id DESC
LIMIT {p4:Int64}
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: "task-1"
-- 4: 51

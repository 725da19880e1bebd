SELECT observation_id AS c0,
  user_id AS c1,
  empty(user_id) AS k0,
  toString(substringUTF8(user_id, 1, 256)) AS k1,
  toUnixTimestamp64Nano(start_time) AS k2,
  toString(trace_id) AS k3,
  toString(observation_id) AS k4
FROM (
  SELECT observation_id, user_id, start_time, trace_id, environment, (metadata[{p0:String}]) AS m5, release
  FROM observations
  WHERE project_id = {p1:UUID}
    AND start_time >= fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
    AND start_time < fromUnixTimestamp64Nano({p3:Int64}, 'UTC')
  ORDER BY start_time ASC, trace_id ASC, observation_id ASC, ingested_at DESC, message_id DESC
  LIMIT 1 BY start_time, trace_id, observation_id
) AS page
WHERE (user_id < {p4:String} AND user_id != '')
  AND environment >= {p5:String}
  AND NOT (environment IN {p6:Array(String)})
  AND (m5 != '')
  AND NOT (1 = 0)
ORDER BY empty(user_id) ASC, substringUTF8(user_id, 1, 256) ASC, start_time ASC, trace_id ASC, observation_id ASC
LIMIT {p7:Int64}
-- 0: "tenant"
-- 1: "0198c0de-0000-7000-8000-0000000000aa"
-- 2: "1793491200000000000n"
-- 3: "1794096000000000000n"
-- 4: "m"
-- 5: "prod"
-- 6: ["prod"]
-- 7: 51

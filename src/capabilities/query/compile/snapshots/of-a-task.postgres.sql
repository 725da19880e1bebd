SELECT (start_time)::text AS c0,
  name AS c1,
  (cost_usd)::text AS c2,
  (start_time)::text AS k0,
  trace_id::text AS k1,
  (observation_id collate "C")::text AS k2
FROM (
  SELECT start_time, name, cost_usd, trace_id, observation_id, task_id
  FROM hot_observations
  WHERE project_id = $1::uuid
    AND start_time >= $2::bigint
    AND start_time < $3::bigint
) AS page
WHERE task_id = $4::text
ORDER BY start_time DESC, (right(trace_id::text, 17) || trace_id::text) collate "C" DESC, observation_id collate "C" DESC
LIMIT $5::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: "task-1"
-- 4: 51

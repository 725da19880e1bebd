SELECT trace_id AS c0,
  name AS c1,
  input AS c2,
  (start_time)::text AS k0,
  trace_id::text AS k1,
  (observation_id collate "C")::text AS k2
FROM (
  SELECT trace_id, name, input, start_time, observation_id
  FROM hot_observations
  WHERE project_id = $1::uuid
    AND start_time >= $2::bigint
    AND start_time < $3::bigint
) AS page
ORDER BY start_time DESC, (right(trace_id::text, 17) || trace_id::text) collate "C" DESC, observation_id collate "C" DESC
LIMIT $4::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: 51

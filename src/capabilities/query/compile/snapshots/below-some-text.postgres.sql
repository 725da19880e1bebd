SELECT observation_id AS c0,
  user_id AS c1,
  (user_id = '')::integer::text AS k0,
  (left(user_id, 256) collate "C")::text AS k1,
  (start_time)::text AS k2,
  trace_id::text AS k3,
  (observation_id collate "C")::text AS k4
FROM (
  SELECT observation_id, user_id, start_time, trace_id, environment, (coalesce(metadata ->> $1::text, '')) AS m5, release
  FROM hot_observations
  WHERE project_id = $2::uuid
    AND start_time >= $3::bigint
    AND start_time < $4::bigint
) AS page
WHERE (user_id < $5::text collate "C" AND user_id != '')
  AND environment >= $6::text collate "C"
  AND NOT (environment = any($7::text[]))
  AND (m5 != '')
  AND NOT (1 = 0)
ORDER BY (user_id = '')::integer ASC, left(user_id, 256) collate "C" ASC, start_time ASC, (right(trace_id::text, 17) || trace_id::text) collate "C" ASC, observation_id collate "C" ASC
LIMIT $8::bigint
-- 0: "tenant"
-- 1: "0198c0de-0000-7000-8000-0000000000aa"
-- 2: "1793491200000000000n"
-- 3: "1794096000000000000n"
-- 4: "m"
-- 5: "prod"
-- 6: ["prod"]
-- 7: 51

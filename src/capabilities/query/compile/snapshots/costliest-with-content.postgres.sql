SELECT trace_id AS c0,
  (cost_usd)::text AS c1,
  input AS c2,
  m3 AS c3,
  (cost_usd is null)::integer::text AS k0,
  (coalesce(cost_usd, 0))::text AS k1,
  (start_time)::text AS k2,
  trace_id::text AS k3,
  (observation_id collate "C")::text AS k4
FROM (
  SELECT trace_id, cost_usd, input, (coalesce(metadata ->> $1::text, '')) AS m3, start_time, observation_id, ((type IN ('generation', 'embedding') AND counted_with = '')) AS is_call, (coalesce(attributes ->> $2::text, '')) AS m7
  FROM hot_observations
  WHERE project_id = $3::uuid
    AND start_time >= $4::bigint
    AND start_time < $5::bigint
) AS page
WHERE is_call = $6::boolean
  AND NOT (coalesce(case when m7 ~ '^-?[0-9]{1,18}([.][0-9]{1,18})?$' then (m7)::float8 end < $7::float8, false))
  AND m3 = any($8::text[])
ORDER BY (cost_usd is null)::integer ASC, coalesce(cost_usd, 0) DESC, start_time DESC, (right(trace_id::text, 17) || trace_id::text) collate "C" DESC, observation_id collate "C" DESC
LIMIT $9::bigint
-- 0: "tenant"
-- 1: "http.status"
-- 2: "0198c0de-0000-7000-8000-0000000000aa"
-- 3: "1793491200000000000n"
-- 4: "1794096000000000000n"
-- 5: true
-- 6: 400
-- 7: ["a","b"]
-- 8: 51

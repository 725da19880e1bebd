SELECT trace_id AS c0,
  name AS c1,
  duration_ms AS c2,
  (cost_usd)::text AS c3,
  m4 AS c4,
  (('x' || encode(float8send((duration_ms)::float8), 'hex'))::bit(64)::bigint::numeric + case when duration_ms < 0 then 18446744073709551616 else 0 end)::text AS k0,
  trace_id::text AS k1
FROM (
  SELECT g.trace_id AS trace_id, g.duration_ms AS duration_ms, g.cost_usd AS cost_usd, coalesce(nullif(r.name, ''), g.name) AS name, coalesce(r.metadata ->> $6::text, '') AS m4
  FROM (SELECT o.trace_id AS trace_id, (array_agg(o.name ORDER BY o.parent_observation_id != '', o.start_time, o.observation_id))[1] AS name, (max(o.end_time) - min(o.start_time))::float8 / 1000000 AS duration_ms, coalesce(sum(o.cost_usd) FILTER (WHERE o.is_call), 0) AS cost_usd
  FROM (SELECT trace_id, start_time, name, parent_observation_id, observation_id, end_time, ((type IN ('generation', 'embedding') AND counted_with = '')) AS is_call, cost_usd
  FROM hot_observations
  WHERE project_id = $1::uuid
    AND start_time >= $2::bigint
    AND start_time < $3::bigint) AS o
  GROUP BY o.trace_id
  HAVING min(o.start_time) >= $4::bigint AND min(o.start_time) < $5::bigint) AS g
  LEFT JOIN (SELECT DISTINCT ON (trace_id) trace_id, name, metadata FROM hot_traces
    WHERE project_id = $1::uuid
    AND time >= $7::bigint
    AND time < $8::bigint
    ORDER BY trace_id, ingested_at DESC, message_id DESC) AS r ON r.trace_id = g.trace_id
) AS page
WHERE duration_ms > $9::float8
ORDER BY duration_ms DESC, (right(trace_id::text, 17) || trace_id::text) collate "C" DESC
LIMIT $10::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793404800000000000n"
-- 2: "1794182400000000000n"
-- 3: "1793491200000000000n"
-- 4: "1794096000000000000n"
-- 5: "tenant"
-- 6: "1790812800000000000n"
-- 7: "1796083200000000000n"
-- 8: 1000
-- 9: 51

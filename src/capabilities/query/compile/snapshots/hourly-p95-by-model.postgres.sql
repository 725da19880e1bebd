SELECT model AS c0,
  ((((start_time) - $6::bigint) / $5::bigint * $5::bigint + $6::bigint))::text AS c1,
  percentile_cont(0.95) within group (order by (duration_ms)::float8) AS c2
FROM (
  SELECT model, start_time, ((end_time - start_time)::float8 / 1000000) AS duration_ms, ((type IN ('generation', 'embedding') AND counted_with = '')) AS is_call
  FROM hot_observations
  WHERE project_id = $1::uuid
    AND start_time >= $2::bigint
    AND start_time < $3::bigint
) AS record
WHERE is_call = $4::boolean
GROUP BY model, (((start_time) - $6::bigint) / $5::bigint * $5::bigint + $6::bigint)
ORDER BY (((start_time) - $6::bigint) / $5::bigint * $5::bigint + $6::bigint) ASC NULLS LAST, nullif(model, '') collate "C" ASC NULLS LAST
LIMIT $7::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: true
-- 4: "3600000000000n"
-- 5: "0n"
-- 6: 51

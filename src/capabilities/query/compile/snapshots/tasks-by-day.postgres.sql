SELECT (((((extract(epoch from started_at) * 1000000)::bigint * 1000) - $5::bigint) / $4::bigint * $4::bigint + $5::bigint))::text AS c0,
  environment AS c1,
  (count(*))::text AS c2,
  count(*) filter (where has_error)::float8 / nullif(count(*), 0) AS c3,
  (round((percentile_cont(0.95) within group (order by (cost_usd)::float8))::numeric, 9))::text AS c4
FROM (
  SELECT (coalesce(environment::text, '')) AS environment, started_at, (state = 'failed') AS has_error, cost_usd
  FROM tasks
  WHERE project_id = $1::uuid
    AND started_at >= $2::timestamptz
    AND started_at < $3::timestamptz
) AS record
GROUP BY ((((extract(epoch from started_at) * 1000000)::bigint * 1000) - $5::bigint) / $4::bigint * $4::bigint + $5::bigint), environment
ORDER BY ((((extract(epoch from started_at) * 1000000)::bigint * 1000) - $5::bigint) / $4::bigint * $4::bigint + $5::bigint) ASC NULLS LAST, nullif(environment, '') collate "C" ASC NULLS LAST
LIMIT $6::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "2026-11-01T00:00:00.000Z"
-- 2: "2026-11-08T00:00:00.000Z"
-- 3: "86400000000000n"
-- 4: "0n"
-- 5: 51

SELECT task_id AS c0,
  user_id AS c1,
  (cost_usd)::text AS c2,
  ((extract(epoch from started_at) * 1000000)::bigint * 1000)::text AS c3,
  (cost_usd)::text AS k0,
  (task_id collate "C")::text AS k1
FROM (
  SELECT task_id, (coalesce(user_id::text, '')) AS user_id, cost_usd, started_at, models
  FROM tasks
  WHERE project_id = $1::uuid
    AND started_at >= $2::timestamptz
    AND started_at < $3::timestamptz
) AS page
WHERE $4::text = any(models)
ORDER BY cost_usd DESC, task_id collate "C" DESC
LIMIT $5::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "2026-11-01T00:00:00.000Z"
-- 2: "2026-11-08T00:00:00.000Z"
-- 3: "m-1"
-- 4: 51

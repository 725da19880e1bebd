SELECT task_id AS c0,
  (ended_at is null)::integer::text AS k0,
  ((extract(epoch from coalesce(ended_at, 'epoch'::timestamptz)) * 1000000)::bigint * 1000)::text AS k1,
  (task_id collate "C")::text AS k2
FROM (
  SELECT task_id, ended_at
  FROM tasks
  WHERE project_id = $1::uuid
    AND started_at >= $2::timestamptz
    AND started_at < $3::timestamptz
) AS page
ORDER BY (ended_at is null)::integer ASC, coalesce(ended_at, 'epoch'::timestamptz) ASC, task_id collate "C" ASC
LIMIT $4::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "2026-11-01T00:00:00.000Z"
-- 2: "2026-11-08T00:00:00.000Z"
-- 3: 51

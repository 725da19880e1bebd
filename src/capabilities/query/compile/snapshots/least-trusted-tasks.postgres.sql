SELECT task_id AS c0,
  trust_score AS c1,
  ((extract(epoch from verified_at) * 1000000)::bigint * 1000)::text AS c2,
  (trust_score is null)::integer::text AS k0,
  (('x' || encode(float8send((coalesce(trust_score, 0))::float8), 'hex'))::bit(64)::bigint::numeric + case when coalesce(trust_score, 0) < 0 then 18446744073709551616 else 0 end)::text AS k1,
  (task_id collate "C")::text AS k2
FROM (
  SELECT task_id, trust_score, verified_at, (coalesce(verification_state, 'not_verified')) AS verification_state
  FROM tasks
  WHERE project_id = $1::uuid
    AND started_at >= $2::timestamptz
    AND started_at < $3::timestamptz
) AS page
WHERE verification_state = $4::text
  AND coalesce(trust_score < $5::float8, false)
ORDER BY (trust_score is null)::integer ASC, coalesce(trust_score, 0) ASC, task_id collate "C" ASC
LIMIT $6::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "2026-11-01T00:00:00.000Z"
-- 2: "2026-11-08T00:00:00.000Z"
-- 3: "verified"
-- 4: 0.5
-- 5: 51

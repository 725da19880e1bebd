SELECT ((((start_time) - $5::bigint) / $4::bigint * $4::bigint + $5::bigint))::text AS c0,
  CASE WHEN in_top THEN model END AS c1,
  (NOT in_top) AS c2,
  (count(*))::text AS c3
FROM (
  SELECT *, (model) IN (SELECT model FROM (SELECT model, start_time
  FROM hot_observations
  WHERE project_id = $1::uuid
    AND start_time >= $2::bigint
    AND start_time < $3::bigint) AS record
    GROUP BY model ORDER BY count(*) DESC NULLS LAST, nullif(model, '') collate "C" ASC NULLS LAST
    LIMIT $6::bigint) AS in_top
  FROM (SELECT model, start_time
  FROM hot_observations
  WHERE project_id = $1::uuid
    AND start_time >= $2::bigint
    AND start_time < $3::bigint) AS record
) AS record
GROUP BY (((start_time) - $5::bigint) / $4::bigint * $4::bigint + $5::bigint), CASE WHEN in_top THEN model END, (NOT in_top)
ORDER BY (((start_time) - $5::bigint) / $4::bigint * $4::bigint + $5::bigint) ASC NULLS LAST, nullif(CASE WHEN in_top THEN model END, '') collate "C" ASC NULLS LAST, (NOT in_top) ASC NULLS LAST
LIMIT $7::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: "86400000000000n"
-- 4: "0n"
-- 5: 3
-- 6: 51

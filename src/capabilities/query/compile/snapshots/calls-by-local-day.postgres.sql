SELECT ((CASE WHEN (start_time) >= $4::bigint THEN (((start_time) - $4::bigint) / $5::bigint * $5::bigint + $4::bigint) WHEN (start_time) >= $6::bigint THEN (((start_time) - $6::bigint) / $7::bigint * $7::bigint + $6::bigint) ELSE (((start_time) - $8::bigint) / $5::bigint * $5::bigint + $8::bigint) END))::text AS c0,
  (count(*))::float8 / (least((CASE WHEN (CASE WHEN (start_time) >= $4::bigint THEN (((start_time) - $4::bigint) / $5::bigint * $5::bigint + $4::bigint) WHEN (start_time) >= $6::bigint THEN (((start_time) - $6::bigint) / $7::bigint * $7::bigint + $6::bigint) ELSE (((start_time) - $8::bigint) / $5::bigint * $5::bigint + $8::bigint) END) >= $4::bigint THEN (CASE WHEN (start_time) >= $4::bigint THEN (((start_time) - $4::bigint) / $5::bigint * $5::bigint + $4::bigint) WHEN (start_time) >= $6::bigint THEN (((start_time) - $6::bigint) / $7::bigint * $7::bigint + $6::bigint) ELSE (((start_time) - $8::bigint) / $5::bigint * $5::bigint + $8::bigint) END) + $5::bigint WHEN (CASE WHEN (start_time) >= $4::bigint THEN (((start_time) - $4::bigint) / $5::bigint * $5::bigint + $4::bigint) WHEN (start_time) >= $6::bigint THEN (((start_time) - $6::bigint) / $7::bigint * $7::bigint + $6::bigint) ELSE (((start_time) - $8::bigint) / $5::bigint * $5::bigint + $8::bigint) END) >= $6::bigint THEN (CASE WHEN (start_time) >= $4::bigint THEN (((start_time) - $4::bigint) / $5::bigint * $5::bigint + $4::bigint) WHEN (start_time) >= $6::bigint THEN (((start_time) - $6::bigint) / $7::bigint * $7::bigint + $6::bigint) ELSE (((start_time) - $8::bigint) / $5::bigint * $5::bigint + $8::bigint) END) + $7::bigint ELSE (CASE WHEN (start_time) >= $4::bigint THEN (((start_time) - $4::bigint) / $5::bigint * $5::bigint + $4::bigint) WHEN (start_time) >= $6::bigint THEN (((start_time) - $6::bigint) / $7::bigint * $7::bigint + $6::bigint) ELSE (((start_time) - $8::bigint) / $5::bigint * $5::bigint + $8::bigint) END) + $5::bigint END), $3::bigint) - greatest((CASE WHEN (start_time) >= $4::bigint THEN (((start_time) - $4::bigint) / $5::bigint * $5::bigint + $4::bigint) WHEN (start_time) >= $6::bigint THEN (((start_time) - $6::bigint) / $7::bigint * $7::bigint + $6::bigint) ELSE (((start_time) - $8::bigint) / $5::bigint * $5::bigint + $8::bigint) END), $2::bigint))::float8 * 1000000000 AS c1
FROM (
  SELECT start_time
  FROM hot_observations
  WHERE project_id = $1::uuid
    AND start_time >= $2::bigint
    AND start_time < $3::bigint
) AS record
GROUP BY (CASE WHEN (start_time) >= $4::bigint THEN (((start_time) - $4::bigint) / $5::bigint * $5::bigint + $4::bigint) WHEN (start_time) >= $6::bigint THEN (((start_time) - $6::bigint) / $7::bigint * $7::bigint + $6::bigint) ELSE (((start_time) - $8::bigint) / $5::bigint * $5::bigint + $8::bigint) END)
ORDER BY (CASE WHEN (start_time) >= $4::bigint THEN (((start_time) - $4::bigint) / $5::bigint * $5::bigint + $4::bigint) WHEN (start_time) >= $6::bigint THEN (((start_time) - $6::bigint) / $7::bigint * $7::bigint + $6::bigint) ELSE (((start_time) - $8::bigint) / $5::bigint * $5::bigint + $8::bigint) END) ASC NULLS LAST
LIMIT $9::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1792454400000000000n"
-- 2: "1793491200000000000n"
-- 3: "1792969200000000000n"
-- 4: "86400000000000n"
-- 5: "1792879200000000000n"
-- 6: "90000000000000n"
-- 7: "1792447200000000000n"
-- 8: 51

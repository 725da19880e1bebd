SELECT user_id AS c0,
  ((coalesce(sum(input_uncached_tokens), 0) + coalesce(sum(cache_read_tokens), 0) + coalesce(sum(cache_write_tokens), 0) + coalesce(sum(output_visible_tokens), 0) + coalesce(sum(reasoning_tokens), 0)))::text AS c1,
  (coalesce(sum(cost_usd), 0))::text AS c2,
  count(*) filter (where has_error)::float8 / nullif(count(*), 0) AS c3,
  (count(*))::float8 / ($3::bigint - $2::bigint)::float8 * 1000000000 AS c4
FROM (
  SELECT user_id, input_uncached_tokens, cache_read_tokens, cache_write_tokens, output_visible_tokens, reasoning_tokens, cost_usd, (status = 'error') AS has_error, ((type IN ('generation', 'embedding') AND counted_with = '')) AS is_call
  FROM hot_observations
  WHERE project_id = $1::uuid
    AND start_time >= $2::bigint
    AND start_time < $3::bigint
) AS record
WHERE is_call = $4::boolean
GROUP BY user_id
HAVING coalesce(coalesce(sum(cost_usd), 0) > $5::numeric, false)
ORDER BY (coalesce(sum(input_uncached_tokens), 0) + coalesce(sum(cache_read_tokens), 0) + coalesce(sum(cache_write_tokens), 0) + coalesce(sum(output_visible_tokens), 0) + coalesce(sum(reasoning_tokens), 0)) DESC NULLS LAST, nullif(user_id, '') collate "C" ASC NULLS LAST
LIMIT $6::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: true
-- 4: "1.5"
-- 5: 51

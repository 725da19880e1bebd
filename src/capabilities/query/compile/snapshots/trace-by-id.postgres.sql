SELECT trace_id AS c0,
  observation_id AS c1,
  parent_observation_id AS c2,
  type AS c3,
  name AS c4,
  (start_time)::text AS c5,
  (end_time)::text AS c6,
  duration_ms AS c7,
  status AS c8,
  has_error AS c9,
  is_call AS c10,
  (status_code)::text AS c11,
  outcome AS c12,
  error_type AS c13,
  error_message AS c14,
  source AS c15,
  contract_version AS c16,
  provider AS c17,
  model_requested AS c18,
  model AS c19,
  endpoint AS c20,
  task_id AS c21,
  task_name AS c22,
  task_implicit AS c23,
  conversation_id AS c24,
  conversation_external_id AS c25,
  user_id AS c26,
  environment AS c27,
  release AS c28,
  service_name AS c29,
  agent_name AS c30,
  span_kind AS c31,
  level AS c32,
  content_state AS c33,
  streamed AS c34,
  finish_reason AS c35,
  (input_uncached_tokens)::text AS c36,
  (cache_read_tokens)::text AS c37,
  (cache_write_tokens)::text AS c38,
  (output_visible_tokens)::text AS c39,
  (reasoning_tokens)::text AS c40,
  (input_tokens)::text AS c41,
  (output_tokens)::text AS c42,
  (total_tokens)::text AS c43,
  usage_source AS c44,
  usage_semantics AS c45,
  (cost_usd)::text AS c46,
  price_version AS c47,
  price_partial AS c48,
  response_id AS c49,
  counted_with AS c50,
  (cost_computed_usd)::text AS c51,
  (cost_reported_usd)::text AS c52,
  usage_details AS c53,
  service_tier AS c54,
  time_to_first_token_ms AS c55,
  (request_bytes)::text AS c56,
  (response_bytes)::text AS c57,
  (start_time)::text AS k0,
  trace_id::text AS k1,
  (observation_id collate "C")::text AS k2
FROM (
  SELECT trace_id, observation_id, parent_observation_id, type, name, start_time, end_time, ((end_time - start_time)::float8 / 1000000) AS duration_ms, status, (status = 'error') AS has_error, ((type IN ('generation', 'embedding') AND counted_with = '')) AS is_call, status_code, outcome, error_type, error_message, source, contract_version, provider, model_requested, model, endpoint, task_id, task_name, task_implicit, conversation_id, conversation_external_id, user_id, environment, release, service_name, agent_name, span_kind, level, content_state, streamed, finish_reason, input_uncached_tokens, cache_read_tokens, cache_write_tokens, output_visible_tokens, reasoning_tokens, (CASE WHEN coalesce(input_uncached_tokens, cache_read_tokens, cache_write_tokens) IS NULL THEN NULL ELSE coalesce(input_uncached_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) END) AS input_tokens, (CASE WHEN coalesce(output_visible_tokens, reasoning_tokens) IS NULL THEN NULL ELSE coalesce(output_visible_tokens, 0) + coalesce(reasoning_tokens, 0) END) AS output_tokens, (CASE WHEN coalesce(input_uncached_tokens, cache_read_tokens, cache_write_tokens, output_visible_tokens, reasoning_tokens) IS NULL THEN NULL ELSE coalesce(input_uncached_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) + coalesce(output_visible_tokens, 0) + coalesce(reasoning_tokens, 0) END) AS total_tokens, usage_source, usage_semantics, cost_usd, price_version, price_partial, response_id, counted_with, cost_computed_usd, cost_reported_usd, usage_details, service_tier, time_to_first_token_ms, request_bytes, response_bytes
  FROM hot_observations
  WHERE project_id = $1::uuid
    AND start_time >= $2::bigint
    AND start_time < $3::bigint
    AND trace_id = $4::uuid
) AS page
ORDER BY start_time ASC, (right(trace_id::text, 17) || trace_id::text) collate "C" ASC, observation_id collate "C" ASC
LIMIT $5::bigint
-- 0: "0198c0de-0000-7000-8000-0000000000aa"
-- 1: "1793491200000000000n"
-- 2: "1794096000000000000n"
-- 3: "0198c0de-0000-7000-8000-00000000000a"
-- 4: 1001

import type {
  ByDefault,
  Instant,
  InstantByDefault,
  Json,
  JsonByDefault,
  JsonRecord,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface HotTables {
  hot_coverage: {
    project_id: string
    covered_from: OrNull<bigint>
    backfill_job: OrNull<string>
  }
  hot_gaps: {
    project_id: string
    day: number
    reason: string
    marked_at: InstantByDefault
  }
  hot_observations: {
    project_id: string
    trace_id: string
    observation_id: string
    parent_observation_id: string
    type: string
    start_time: number
    end_time: number
    status: string
    source: string
    task_id: string
    task_name: string
    task_implicit: boolean
    conversation_id: string
    conversation_external_id: string
    user_id: string
    environment: string
    release: string
    provider: string
    model_requested: string
    model: string
    input_uncached_tokens: OrNull<number>
    cache_read_tokens: OrNull<number>
    cache_write_tokens: OrNull<number>
    output_visible_tokens: OrNull<number>
    reasoning_tokens: OrNull<number>
    usage_source: string
    cost_usd: OrNull<string>
    name: string
    status_code: number
    outcome: string
    error_type: string
    error_message: string
    contract_version: string
    endpoint: string
    service_name: string
    agent_name: string
    span_kind: string
    level: string
    content_state: string
    streamed: boolean
    finish_reason: string
    usage_semantics: string
    price_version: string
    time_to_first_token_ms: OrNull<number>
    request_bytes: number
    response_bytes: number
    mapped_from: string
    input: string
    output: string
    tool_calls: Json<JsonRecord>
    tool_results: Json<JsonRecord>
    attributes: Json<JsonRecord>
    metadata: Json<JsonRecord>
    message_id: string
    ingested_at: Instant
    price_partial: JsonByDefault<JsonRecord>
    usage_details: JsonByDefault<JsonRecord>
    service_tier: ByDefault<string>
    cost_computed_usd: OrNull<string>
    cost_reported_usd: OrNull<string>
    response_id: ByDefault<string>
    counted_with: ByDefault<string>
  }
  hot_traces: {
    project_id: string
    trace_id: string
    time: number
    name: string
    source: string
    task_id: string
    task_name: string
    conversation_id: string
    conversation_external_id: string
    user_id: string
    environment: string
    release: string
    input: string
    output: string
    metadata: Json<JsonRecord>
    message_id: string
    ingested_at: Instant
  }
  store_routing: {
    project_id: string
    write_stores: ('clickhouse' | 'postgres')[]
    hot_window_hours: number
    routes: Json<
      Record<'point' | 'list' | 'aggregate' | 'explorer', 'auto' | 'clickhouse' | 'postgres'>
    >
    fallback: boolean
    version: number
    updated_at: Instant
    updated_by: OrNull<string>
  }
}

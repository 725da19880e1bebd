-- Observations in partitions of a day: docs/decisions/0022. A partition key can't be changed, so this
-- runs before all else on a server that has no schema yet, and does nothing where the table is there.
-- Times outside of sixteen years have partitions of a year: clocks that are wrong must not make a
-- hundred thousand. A day that no insert has touched for two hours becomes one part, which FINAL reads
-- as fast as a table without repeats.
create table if not exists {{table:observations}} {{on_cluster}}
(
    project_id UUID,
    trace_id UUID,
    observation_id String codec(ZSTD(1)),
    parent_observation_id String codec(ZSTD(1)),
    type LowCardinality(String),
    name String codec(ZSTD(1)),
    start_time DateTime64(9, 'UTC') codec(Delta(8), ZSTD(1)),
    end_time DateTime64(9, 'UTC') codec(Delta(8), ZSTD(1)),
    status LowCardinality(String),
    status_code UInt32 codec(ZSTD(1)),
    outcome LowCardinality(String),
    error_type LowCardinality(String),
    error_message String codec(ZSTD(1)),
    source LowCardinality(String),
    contract_version LowCardinality(String),
    provider LowCardinality(String),
    model_requested LowCardinality(String),
    model LowCardinality(String),
    endpoint LowCardinality(String),
    task_id String codec(ZSTD(1)),
    task_name String codec(ZSTD(1)),
    task_implicit Bool,
    conversation_id String codec(ZSTD(1)),
    conversation_external_id String codec(ZSTD(1)),
    user_id String codec(ZSTD(1)),
    environment LowCardinality(String),
    release LowCardinality(String),
    input String codec(ZSTD(1)),
    output String codec(ZSTD(1)),
    content_state LowCardinality(String),
    tool_calls Array(Tuple(id String, name String, arguments String)) codec(ZSTD(1)),
    tool_results Array(Tuple(tool_call_id String, content String)) codec(ZSTD(1)),
    streamed Bool,
    finish_reason LowCardinality(String),
    input_uncached_tokens Nullable(UInt64) codec(ZSTD(1)),
    cache_read_tokens Nullable(UInt64) codec(ZSTD(1)),
    cache_write_tokens Nullable(UInt64) codec(ZSTD(1)),
    output_visible_tokens Nullable(UInt64) codec(ZSTD(1)),
    reasoning_tokens Nullable(UInt64) codec(ZSTD(1)),
    usage_source LowCardinality(String),
    usage_semantics LowCardinality(String),
    cost_usd Nullable(Decimal(18, 9)) codec(ZSTD(1)),
    price_version LowCardinality(String),
    time_to_first_token_ms Nullable(Float64) codec(ZSTD(1)),
    request_bytes UInt64 codec(ZSTD(1)),
    response_bytes UInt64 codec(ZSTD(1)),
    attributes Map(LowCardinality(String), String) codec(ZSTD(1)),
    service_name LowCardinality(String),
    agent_name LowCardinality(String),
    span_kind LowCardinality(String),
    level LowCardinality(String),
    metadata Map(LowCardinality(String), String) codec(ZSTD(1)),
    mapped_from LowCardinality(String),
    message_id String codec(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') default now64(3) codec(Delta(8), ZSTD(1)),
    index by_trace_id trace_id type bloom_filter(0.01) granularity 1,
    index by_task_id task_id type bloom_filter(0.01) granularity 1,
    index by_conversation_id conversation_id type bloom_filter(0.01) granularity 1
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by if(start_time >= toDateTime64('2024-01-01 00:00:00', 9, 'UTC') and start_time < toDateTime64('2040-01-01 00:00:00', 9, 'UTC'), toYYYYMMDD(start_time), toYear(start_time))
order by (project_id, start_time, trace_id, observation_id)
settings {{durability}}, min_bytes_for_wide_part = 67108864,
    min_age_to_force_merge_seconds = 7200, min_age_to_force_merge_on_partition_only = 1
-- statement
{{distributed:observations by cityHash64(project_id, trace_id)}}

-- Rows that were archived and are back for a while: src/capabilities/observability/archive. A table
-- of a kind has that kind's columns and the slice, which is the partition, so that its end is a
-- drop. Rows that are restored twice replace themselves as they do in the kind's own table.
create table if not exists {{table:restored_observations}} {{on_cluster}}
(
    slice_id UUID,
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
    ingested_at DateTime64(3, 'UTC') codec(Delta(8), ZSTD(1)),
    index by_trace_id trace_id type bloom_filter(0.01) granularity 1,
    index by_task_id task_id type bloom_filter(0.01) granularity 1,
    index by_conversation_id conversation_id type bloom_filter(0.01) granularity 1
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by slice_id
order by (project_id, start_time, trace_id, observation_id)
settings {{durability}}
-- statement
{{distributed:restored_observations by cityHash64(project_id, trace_id)}}
-- statement
create table if not exists {{table:restored_traces}} {{on_cluster}}
(
    slice_id UUID,
    project_id UUID,
    trace_id UUID,
    time DateTime64(9, 'UTC') codec(Delta(8), ZSTD(1)),
    name String codec(ZSTD(1)),
    source LowCardinality(String),
    task_id String codec(ZSTD(1)),
    task_name String codec(ZSTD(1)),
    conversation_id String codec(ZSTD(1)),
    conversation_external_id String codec(ZSTD(1)),
    user_id String codec(ZSTD(1)),
    environment LowCardinality(String),
    release LowCardinality(String),
    input String codec(ZSTD(1)),
    output String codec(ZSTD(1)),
    metadata Map(LowCardinality(String), String) codec(ZSTD(1)),
    message_id String codec(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') codec(Delta(8), ZSTD(1)),
    index by_trace_id trace_id type bloom_filter(0.01) granularity 1
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by slice_id
order by (project_id, toDate(time), trace_id)
settings {{durability}}
-- statement
{{distributed:restored_traces by cityHash64(project_id, trace_id)}}
-- statement
create table if not exists {{table:restored_events}} {{on_cluster}}
(
    slice_id UUID,
    project_id UUID,
    trace_id UUID,
    observation_id String codec(ZSTD(1)),
    event_id String codec(ZSTD(1)),
    time DateTime64(9, 'UTC') codec(Delta(8), ZSTD(1)),
    name LowCardinality(String),
    level LowCardinality(String),
    source LowCardinality(String),
    body String codec(ZSTD(1)),
    attributes Map(LowCardinality(String), String) codec(ZSTD(1)),
    message_id String codec(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') codec(Delta(8), ZSTD(1))
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by slice_id
order by (project_id, trace_id, time, observation_id, event_id)
settings {{durability}}
-- statement
{{distributed:restored_events by cityHash64(project_id, trace_id)}}
-- statement
create table if not exists {{table:restored_links}} {{on_cluster}}
(
    slice_id UUID,
    project_id UUID,
    trace_id UUID,
    observation_id String codec(ZSTD(1)),
    link_id String codec(ZSTD(1)),
    time DateTime64(9, 'UTC') codec(Delta(8), ZSTD(1)),
    linked_trace_id UUID,
    linked_observation_id String codec(ZSTD(1)),
    source LowCardinality(String),
    attributes Map(LowCardinality(String), String) codec(ZSTD(1)),
    message_id String codec(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') codec(Delta(8), ZSTD(1)),
    index by_linked_trace_id linked_trace_id type bloom_filter(0.01) granularity 1
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by slice_id
order by (project_id, trace_id, time, observation_id, link_id)
settings {{durability}}
-- statement
{{distributed:restored_links by cityHash64(project_id, trace_id)}}
-- statement
create table if not exists {{table:restored_correlations}} {{on_cluster}}
(
    slice_id UUID,
    project_id UUID,
    trace_id UUID,
    observation_id String codec(ZSTD(1)),
    correlation_type LowCardinality(String),
    correlation_value String codec(ZSTD(1)),
    time DateTime64(9, 'UTC') codec(Delta(8), ZSTD(1)),
    source LowCardinality(String),
    metadata Map(LowCardinality(String), String) codec(ZSTD(1)),
    message_id String codec(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') codec(Delta(8), ZSTD(1)),
    index by_trace_id trace_id type bloom_filter(0.01) granularity 1
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by slice_id
order by (project_id, correlation_type, correlation_value, trace_id, observation_id)
settings {{durability}}
-- statement
{{distributed:restored_correlations by cityHash64(project_id, trace_id)}}

-- The schema of ClickHouse, for one server and for a cluster (render-statement.ts). The page of tables
-- is generated from this file: the comment above a table or column describes it.
-- Block numbers let a merge keep which insert brought a row, by which a DELETE can note the rows of a
-- partition in a small part of its own (a "patch part", from ClickHouse 25.8 on): decision 22.
-- Statistics of columns help to order joins, of which there are none here. ClickHouse would make them
-- at each merge, and read those of every part before a query: 5 of the 24 ms of a trace by its id.
-- Parts below `min_bytes_for_wide_part` (not compressed) are one file for all columns: with the
-- default of 10 MiB an insert of 10,000 rows wrote a file or two for each column. Measured on 2.1 KB
-- rows with their merges: 20 to 33 µs a row instead of 36 to 46, and half the time.
-- Merges take more parts at once than by default (5): decision 59.

-- # Observations

-- Observations, content included: one immutable row for each (`src/model/observation.ts`), in
-- partitions of a day (decision 22). Times more than sixteen years apart from the others have
-- partitions of a year, so that wrong clocks do not create a hundred thousand. A day without inserts
-- for two hours is merged to one part, which FINAL reads as fast as a table without repeats. The key
-- is the identity of a record, so a record that is sent again replaces itself when parts merge; until
-- then reads take the latest by `LIMIT 1 BY`. Insert tokens: decision 9.
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
    -- Parts of the call that were priced without a rate of their own.
    price_partial Array(LowCardinality(String)) codec(ZSTD(1)),
    -- The provider's name of the answer, by which rows of one call find each other.
    response_id String codec(ZSTD(1)),
    -- Id of the row that counts the call instead of this one.
    counted_with String codec(ZSTD(1)),
    -- Parts of the tokens with prices of their own.
    usage_details Map(LowCardinality(String), UInt64) codec(ZSTD(1)),
    service_tier LowCardinality(String),
    -- The computed and the reported cost, beside the one that counts.
    cost_computed_usd Nullable(Decimal(18, 9)) codec(ZSTD(1)),
    cost_reported_usd Nullable(Decimal(18, 9)) codec(ZSTD(1)),
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
    -- A copy of an attribute, so that roll-ups of tasks need not read the attributes.
    cluster_name LowCardinality(String) default attributes['resource.k8s.cluster.name'],
    message_id String codec(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') default now64(3) codec(Delta(8), ZSTD(1)),
    index by_trace_id trace_id type bloom_filter(0.01) granularity 1,
    index by_task_id task_id type bloom_filter(0.01) granularity 1,
    index by_conversation_id conversation_id type bloom_filter(0.01) granularity 1,
    -- Rules count a call when it is stored: skips granules without rows that were stored since the
    -- begin of a window (decision 42). The range of starts decides for each of several windows.
    index by_stored (start_time, ingested_at) type minmax granularity 1
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by if(start_time >= toDateTime64('2024-01-01 00:00:00', 9, 'UTC')
    and start_time < toDateTime64('2040-01-01 00:00:00', 9, 'UTC'), toYYYYMMDD(start_time), toYear(start_time))
order by (project_id, start_time, trace_id, observation_id)
settings {{durability}}, min_bytes_for_wide_part = 67108864,
    min_age_to_force_merge_seconds = 7200, min_age_to_force_merge_on_partition_only = 1,
    enable_block_number_column = 1, enable_block_offset_column = 1{{if_known:auto_statistics_types = ''}}{{if_known:merge_selector_base = 10}}
-- statement
{{distributed:observations by cityHash64(project_id, trace_id)}}
-- statement
-- # Records beside observations: `src/model/ingest-records.ts`

-- Records of whole traces. A record that is sent again replaces itself when parts merge; until then
-- reads take the latest by `LIMIT 1 BY` its identity.
create table if not exists {{table:traces}} {{on_cluster}}
(
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
    ingested_at DateTime64(3, 'UTC') default now64(3) codec(Delta(8), ZSTD(1)),
    index by_trace_id trace_id type bloom_filter(0.01) granularity 1
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by toYYYYMM(time)
order by (project_id, toDate(time), trace_id)
settings {{durability}}, enable_block_number_column = 1, enable_block_offset_column = 1{{if_known:auto_statistics_types = ''}}
-- statement
{{distributed:traces by cityHash64(project_id, trace_id)}}
-- statement
-- Events of observations: log records and messages.
create table if not exists {{table:events}} {{on_cluster}}
(
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
    ingested_at DateTime64(3, 'UTC') default now64(3) codec(Delta(8), ZSTD(1))
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by toYYYYMM(time)
order by (project_id, trace_id, time, observation_id, event_id)
settings {{durability}}, enable_block_number_column = 1, enable_block_offset_column = 1{{if_known:auto_statistics_types = ''}}
-- statement
{{distributed:events by cityHash64(project_id, trace_id)}}
-- statement
-- Links of observations to other traces.
create table if not exists {{table:links}} {{on_cluster}}
(
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
    ingested_at DateTime64(3, 'UTC') default now64(3) codec(Delta(8), ZSTD(1)),
    index by_linked_trace_id linked_trace_id type bloom_filter(0.01) granularity 1
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by toYYYYMM(time)
order by (project_id, trace_id, time, observation_id, link_id)
settings {{durability}}, enable_block_number_column = 1, enable_block_offset_column = 1{{if_known:auto_statistics_types = ''}}
-- statement
{{distributed:links by cityHash64(project_id, trace_id)}}
-- statement
-- Correlations of traces with names from other systems.
create table if not exists {{table:correlations}} {{on_cluster}}
(
    project_id UUID,
    trace_id UUID,
    observation_id String codec(ZSTD(1)),
    correlation_type LowCardinality(String),
    correlation_value String codec(ZSTD(1)),
    time DateTime64(9, 'UTC') codec(Delta(8), ZSTD(1)),
    source LowCardinality(String),
    metadata Map(LowCardinality(String), String) codec(ZSTD(1)),
    message_id String codec(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') default now64(3) codec(Delta(8), ZSTD(1)),
    index by_trace_id trace_id type bloom_filter(0.01) granularity 1
)
engine = {{engine:ReplacingMergeTree(ingested_at)}}
partition by toYYYYMM(time)
order by (project_id, correlation_type, correlation_value, trace_id, observation_id)
settings {{durability}}, enable_block_number_column = 1, enable_block_offset_column = 1{{if_known:auto_statistics_types = ''}}
-- statement
{{distributed:correlations by cityHash64(project_id, trace_id)}}
-- statement
-- # The completeness ledger

-- The completeness ledger: the outcome of each request's items (`src/model/ledger-entry.ts`). Of
-- several entries of one request and message, the one that was settled last stays when parts merge; an
-- accepted entry counts as settled in 1970.
create table if not exists {{table:ingest_ledger}} {{on_cluster}}
(
    project_id UUID,
    ingest_request_id UUID,
    message_id String codec(ZSTD(1)),
    side LowCardinality(String),
    path LowCardinality(String),
    received_at DateTime64(3, 'UTC') codec(Delta(8), ZSTD(1)),
    items UInt64 codec(ZSTD(1)),
    stored UInt64 codec(ZSTD(1)),
    rejected Map(LowCardinality(String), UInt64) codec(ZSTD(1)),
    lost Map(LowCardinality(String), UInt64) codec(ZSTD(1)),
    masked UInt64 codec(ZSTD(1)),
    records Map(LowCardinality(String), UInt64) codec(ZSTD(1)),
    attempts UInt32 codec(ZSTD(1)),
    settled_at DateTime64(3, 'UTC') codec(Delta(8), ZSTD(1)),
    error_reason String codec(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') default now64(3) codec(Delta(8), ZSTD(1)),
    index by_request ingest_request_id type bloom_filter(0.01) granularity 1
)
engine = {{engine:ReplacingMergeTree(settled_at)}}
partition by toYYYYMM(received_at)
order by (project_id, toStartOfHour(received_at), ingest_request_id, message_id)
settings {{durability}}
-- statement
{{distributed:ingest_ledger by cityHash64(project_id, ingest_request_id)}}
-- statement
-- Sums of the ledger for complete hours, so that a long window need not read every entry. A row of an
-- hour and path is valid as of an instant; the row without a path is the time of the latest late entry.
-- Sums count while they are newer than it.
create table if not exists {{table:ingest_ledger_hours}} {{on_cluster}}
(
    project_id UUID,
    hour DateTime64(3, 'UTC'),
    path LowCardinality(String),
    requests UInt64 codec(ZSTD(1)),
    accepted UInt64 codec(ZSTD(1)),
    stored UInt64 codec(ZSTD(1)),
    masked UInt64 codec(ZSTD(1)),
    rejected Map(LowCardinality(String), UInt64) codec(ZSTD(1)),
    lost Map(LowCardinality(String), UInt64) codec(ZSTD(1)),
    as_of DateTime64(3, 'UTC')
)
engine = {{engine:ReplacingMergeTree(as_of)}}
partition by toYYYYMM(hour)
order by (project_id, hour, path)
settings {{durability}}
-- statement
{{distributed:ingest_ledger_hours by cityHash64(project_id)}}
-- statement
-- # Archived rows that are restored for a limited time

-- Archived rows that were restored for a limited time. The table of a kind has the kind's columns and
-- the slice, which is the partition, so a slice ends by dropping it. A row that is restored twice
-- replaces itself, as in the kind's own table.
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
    -- Parts of the call that were priced without a rate of their own.
    price_partial Array(LowCardinality(String)) codec(ZSTD(1)),
    -- The provider's name of the answer, by which rows of one call find each other.
    response_id String codec(ZSTD(1)),
    -- Id of the row that counts the call instead of this one.
    counted_with String codec(ZSTD(1)),
    -- Parts of the tokens with prices of their own.
    usage_details Map(LowCardinality(String), UInt64) codec(ZSTD(1)),
    service_tier LowCardinality(String),
    -- The computed and the reported cost, beside the one that counts.
    cost_computed_usd Nullable(Decimal(18, 9)) codec(ZSTD(1)),
    cost_reported_usd Nullable(Decimal(18, 9)) codec(ZSTD(1)),
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
    cluster_name LowCardinality(String) default attributes['resource.k8s.cluster.name'],
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
-- Restored records of whole traces; see `restored_observations`.
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
-- Restored events; see `restored_observations`.
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
-- Restored links; see `restored_observations`.
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
-- Restored correlations; see `restored_observations`.
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
-- statement
-- # Signals of incident rules

-- Sums of observations by minute and dimensions, for windows of incident rules above an hour. The rows
-- of a minute with its newest version count. They are derived from observations, so that they can be
-- computed again, and kept for 35 days.
create table if not exists {{table:signal_minutes}} {{on_cluster}}
(
    project_id UUID,
    minute DateTime('UTC') codec(Delta(4), ZSTD(1)),
    model String codec(ZSTD(1)),
    provider LowCardinality(String),
    environment String codec(ZSTD(1)),
    task_name String codec(ZSTD(1)),
    release String codec(ZSTD(1)),
    tags Array(String) codec(ZSTD(1)),
    observations UInt64 codec(ZSTD(1)),
    calls UInt64 codec(ZSTD(1)),
    errors UInt64 codec(ZSTD(1)),
    cost Float64 codec(ZSTD(1)),
    tokens Float64 codec(ZSTD(1)),
    task_cost Float64 codec(ZSTD(1)),
    task_tokens Float64 codec(ZSTD(1)),
    -- Hashes of task ids.
    tasks Array(UInt64) codec(ZSTD(1)),
    -- Latencies, as counts by bucket.
    latency Map(UInt8, UInt64) codec(ZSTD(1)),
    ttft Map(UInt8, UInt64) codec(ZSTD(1)),
    version DateTime64(3, 'UTC') codec(ZSTD(1))
)
engine = {{engine:ReplacingMergeTree(version)}}
partition by toDate(minute)
order by (project_id, minute, model, provider, environment, task_name, release, tags)
ttl minute + interval 35 day
settings {{durability}}, ttl_only_drop_parts = 1
-- statement
{{distributed:signal_minutes by cityHash64(project_id)}}
-- statement
-- Up to when the minutes of a project are complete.
create table if not exists {{table:signal_minutes_done}} {{on_cluster}}
(
    project_id UUID,
    -- All rows stored before this time, of minutes of the last hours, are in the sums.
    until DateTime64(3, 'UTC'),
    -- All rows stored before this time, of all minutes, are in the sums.
    late_until DateTime64(3, 'UTC')
)
engine = {{engine:ReplacingMergeTree(until)}}
order by project_id
settings {{durability}}
-- statement
{{distributed:signal_minutes_done by cityHash64(project_id)}}

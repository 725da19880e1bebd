-- What comes beside observations: src/model/ingest-records.ts. A record that is sent again replaces
-- itself when parts merge; reads take the latest by LIMIT 1 BY its identity until then.
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
settings {{durability}}
-- statement
{{distributed:traces by cityHash64(project_id, trace_id)}}
-- statement
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
settings {{durability}}
-- statement
{{distributed:events by cityHash64(project_id, trace_id)}}
-- statement
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
settings {{durability}}
-- statement
{{distributed:links by cityHash64(project_id, trace_id)}}
-- statement
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
settings {{durability}}
-- statement
{{distributed:correlations by cityHash64(project_id, trace_id)}}
-- statement
-- What became of each request's items: src/model/ledger-entry.ts. Of the entries of one request and
-- message the one settled last stays when parts merge: an accepted one was settled never, in 1970.
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

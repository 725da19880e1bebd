-- Sums of observations by minute and dimensions, for windows of incident rules above an hour. Rows of a
-- minute are replaced as a whole: those with the newest version of the minute count. Derived from
-- observations, so that they can be computed again: src/capabilities/incidents/signals. Latencies are
-- counts by bucket; tasks are hashes of task ids.
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
    tasks Array(UInt64) codec(ZSTD(1)),
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
-- Up to when the minutes of a project have the rows that were stored: all rows stored before `until`
-- of minutes of the last hours, and before `late_until` of all minutes.
create table if not exists {{table:signal_minutes_done}} {{on_cluster}}
(
    project_id UUID,
    until DateTime64(3, 'UTC'),
    late_until DateTime64(3, 'UTC')
)
engine = {{engine:ReplacingMergeTree(until)}}
order by project_id
settings {{durability}}
-- statement
{{distributed:signal_minutes_done by cityHash64(project_id)}}

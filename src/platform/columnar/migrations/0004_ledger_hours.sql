-- Sums of the ledger over hours that are over, so that a long window needn't read every entry of it.
-- A row of an hour and path holds as of an instant; the row without a path says when an entry of the
-- hour came late. Sums count while they are newer: src/capabilities/observability/stores.
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

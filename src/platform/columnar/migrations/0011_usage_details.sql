-- What a call costs: the parts of its tokens that have prices of their own, its service tier, and the
-- computed and the reported cost beside the one that counts. Earlier rows keep the empty defaults.
alter table {{table:observations}} {{on_cluster}}
    add column if not exists price_partial Array(LowCardinality(String)) codec(ZSTD(1)) after cost_usd,
    add column if not exists usage_details Map(LowCardinality(String), UInt64) codec(ZSTD(1)) after price_partial,
    add column if not exists service_tier LowCardinality(String) after usage_details,
    add column if not exists cost_computed_usd Nullable(Decimal(18, 9)) codec(ZSTD(1)) after service_tier,
    add column if not exists cost_reported_usd Nullable(Decimal(18, 9)) codec(ZSTD(1)) after cost_computed_usd
-- statement
{{distributed_alter:observations
    add column if not exists price_partial Array(LowCardinality(String)),
    add column if not exists usage_details Map(LowCardinality(String), UInt64),
    add column if not exists service_tier LowCardinality(String),
    add column if not exists cost_computed_usd Nullable(Decimal(18, 9)),
    add column if not exists cost_reported_usd Nullable(Decimal(18, 9))}}
-- statement
alter table {{table:restored_observations}} {{on_cluster}}
    add column if not exists price_partial Array(LowCardinality(String)) codec(ZSTD(1)) after cost_usd,
    add column if not exists usage_details Map(LowCardinality(String), UInt64) codec(ZSTD(1)) after price_partial,
    add column if not exists service_tier LowCardinality(String) after usage_details,
    add column if not exists cost_computed_usd Nullable(Decimal(18, 9)) codec(ZSTD(1)) after service_tier,
    add column if not exists cost_reported_usd Nullable(Decimal(18, 9)) codec(ZSTD(1)) after cost_computed_usd
-- statement
{{distributed_alter:restored_observations
    add column if not exists price_partial Array(LowCardinality(String)),
    add column if not exists usage_details Map(LowCardinality(String), UInt64),
    add column if not exists service_tier LowCardinality(String),
    add column if not exists cost_computed_usd Nullable(Decimal(18, 9)),
    add column if not exists cost_reported_usd Nullable(Decimal(18, 9))}}

-- What spans and canonical records tell beyond a proxied call: src/model/observation.ts.
alter table {{table:observations}} {{on_cluster}}
    add column if not exists service_name LowCardinality(String) after release,
    add column if not exists agent_name LowCardinality(String) after service_name,
    add column if not exists span_kind LowCardinality(String) after agent_name,
    add column if not exists level LowCardinality(String) after span_kind,
    add column if not exists metadata Map(LowCardinality(String), String) codec(ZSTD(1)) after attributes,
    add column if not exists mapped_from LowCardinality(String) after metadata
-- statement
{{distributed_alter:observations
    add column if not exists service_name LowCardinality(String),
    add column if not exists agent_name LowCardinality(String),
    add column if not exists span_kind LowCardinality(String),
    add column if not exists level LowCardinality(String),
    add column if not exists metadata Map(LowCardinality(String), String),
    add column if not exists mapped_from LowCardinality(String)}}

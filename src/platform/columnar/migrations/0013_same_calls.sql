-- A model call that several rows describe counts in one of them: response_id is the provider's name of
-- its answer, counted_with the id of the row that counts a call instead of this one.
alter table {{table:observations}} {{on_cluster}}
    add column if not exists response_id String codec(ZSTD(1)) after price_partial,
    add column if not exists counted_with String codec(ZSTD(1)) after response_id
-- statement
{{distributed_alter:observations
    add column if not exists response_id String,
    add column if not exists counted_with String}}
-- statement
alter table {{table:restored_observations}} {{on_cluster}}
    add column if not exists response_id String codec(ZSTD(1)) after price_partial,
    add column if not exists counted_with String codec(ZSTD(1)) after response_id
-- statement
{{distributed_alter:restored_observations
    add column if not exists response_id String,
    add column if not exists counted_with String}}

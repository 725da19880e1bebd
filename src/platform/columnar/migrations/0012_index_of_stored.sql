-- Rules count a call when it ends, or when it becomes known: no later than it is stored. Rows are
-- sorted by their start, so this index skips granules without rows that were stored since the begin
-- of a window: docs/decisions/0042. Its range of starts lets it decide for each of several windows.
-- Parts that were written before have no index, and are read until they are seven days old.
alter table {{table:observations}} {{on_cluster}}
    add index if not exists by_stored (start_time, ingested_at) type minmax granularity 1

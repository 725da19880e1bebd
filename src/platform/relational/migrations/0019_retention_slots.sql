-- The next slot of the project's daily run. Null in a policy of an earlier version, until a worker sets
-- it.
alter table retention_policies add column next_run_at timestamptz(3)
-- statement
-- When the rows of the user became unreadable in every store.
alter table erasures add column unreadable_at timestamptz(3)
-- statement
-- The traces of erased users, by the digest of the user as in erasures. They identify rows without a
-- user: rows that arrive late, and rows that a restore reads from an archive.
create table erased_traces (
  project_id uuid not null,
  user_id_digest bytea not null check (octet_length(user_id_digest) = 32),
  trace_id uuid not null,
  primary key (project_id, user_id_digest, trace_id)
)
-- statement
create index erased_traces_by_trace on erased_traces (project_id, trace_id)

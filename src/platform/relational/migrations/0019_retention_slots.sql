-- When the daily run of the project comes next. Null in a policy of an earlier version, until a worker
-- has seen it.
alter table retention_policies add column next_run_at timestamptz(3)
-- statement
-- When all stores had deleted the rows of the user, so that no read finds them.
alter table erasures add column unreadable_at timestamptz(3)
-- statement
-- The traces of erased users. Rows that name no user are known by them: what arrives late, and what a
-- restore finds in an archive. A digest is that of the user, as in erasures.
create table erased_traces (
  project_id uuid not null,
  user_id_digest bytea not null check (octet_length(user_id_digest) = 32),
  trace_id uuid not null,
  primary key (project_id, user_id_digest, trace_id)
)
-- statement
create index erased_traces_by_trace on erased_traces (project_id, trace_id)

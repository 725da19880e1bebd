-- Files that an archive run has written and read back: a run that is taken over goes on behind them.
-- `position` is that of the last row. No foreign key leads to projects or jobs, as in 0007.
create table archive_files (
  job_id uuid not null,
  ordinal int not null,
  name text not null,
  kind text not null,
  day int not null,
  part int not null,
  row_count bigint not null,
  bytes bigint not null,
  sha256 text not null,
  row_checksum numeric(20) not null,
  min_time_ns numeric(20) not null,
  max_time_ns numeric(20) not null,
  position jsonb not null,
  primary key (job_id, ordinal)
)
-- statement
-- Archived rows that are back for a while. Queries see a slice that is ready and has not expired;
-- `ending` ones still have rows, which a worker drops.
create table restored_slices (
  id uuid primary key,
  project_id uuid not null,
  name text not null,
  archive_run_id uuid not null,
  job_id uuid not null,
  state text not null default 'restoring'
    check (state in ('restoring', 'ready', 'ending', 'ended')),
  kinds jsonb not null,
  window_from timestamptz(3),
  window_to timestamptz(3),
  row_count bigint not null default 0,
  bytes bigint not null default 0,
  erased_rows bigint not null default 0,
  created_by text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3)
)
-- statement
create unique index restored_slices_name on restored_slices (project_id, name)
  where state in ('restoring', 'ready')
-- statement
create index restored_slices_by_project on restored_slices (project_id, id)
-- statement
create index restored_slices_by_end on restored_slices (expires_at) where state <> 'ended'

-- Work that takes longer than a request and survives the process that does it. Who runs a job holds
-- its lease; a lease that has run out may be taken by another, who goes on from `progress`.
-- No foreign key leads to projects, as in 0002: the record of a run outlives what it was about.
create table job_runs (
  id uuid primary key,
  project_id uuid not null,
  kind text not null,
  state text not null default 'queued'
    check (state in ('queued', 'running', 'succeeded', 'failed')),
  params jsonb not null,
  progress jsonb,
  result jsonb,
  error text,
  attempt int not null default 0,
  -- Of a project's jobs with the same key one at a time is queued or running.
  exclusive_key text,
  -- Of a project's jobs with the same key there is one, for ever: a day's run is enqueued once.
  once_key text,
  due_at timestamptz(3) not null default now(),
  lease_owner uuid,
  lease_until timestamptz(3),
  requested_by text not null,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  ended_at timestamptz(3)
)
-- statement
create unique index job_runs_exclusive on job_runs (project_id, exclusive_key)
  where exclusive_key is not null and state in ('queued', 'running')
-- statement
create unique index job_runs_once on job_runs (project_id, once_key) where once_key is not null
-- statement
create index job_runs_due on job_runs (due_at) where state in ('queued', 'running')
-- statement
create index job_runs_by_project on job_runs (project_id, kind, id)
-- statement
create index job_runs_by_end on job_runs (ended_at) where ended_at is not null

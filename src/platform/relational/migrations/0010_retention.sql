-- How long a project's data is kept. A project without a row keeps everything for ever.
create table retention_policies (
  project_id uuid primary key references projects on delete cascade,
  days jsonb not null,
  environments jsonb not null,
  archive_before_delete boolean not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
)
-- statement
-- What may not be deleted, whatever the policy says. A hold that was released stays as a record.
create table legal_holds (
  id uuid primary key,
  project_id uuid not null,
  kind text not null check (kind in ('trace', 'task', 'conversation', 'user')),
  value text not null,
  reason text not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  released_at timestamptz(3),
  released_by text
)
-- statement
create unique index legal_holds_active on legal_holds (project_id, kind, value)
  where released_at is null
-- statement
create index legal_holds_by_project on legal_holds (project_id, id)
-- statement
-- What a run found and did, one row for each day, kind, environment and action. A row is written
-- before its rows go, so that a run that was killed still tells what it deleted.
create table retention_buckets (
  job_id uuid not null references job_runs on delete cascade,
  day int not null,
  kind text not null,
  environment text not null,
  action text not null check (action in ('mask', 'delete', 'keep')),
  state text not null check (state in ('begun', 'done', 'kept')),
  -- Why rows stay: null when none do.
  reason text,
  row_count bigint not null,
  bytes bigint not null,
  held_rows bigint not null,
  primary key (job_id, day, kind, environment, action)
)
-- statement
-- Requests to delete what is known of a user. The user's id is here until its data is gone; what
-- stays is a digest under the project's own key, which tells a known id from others and no more.
create table erasures (
  id uuid primary key,
  project_id uuid not null,
  user_id text,
  user_id_digest bytea not null check (octet_length(user_id_digest) = 32),
  reason text not null,
  purge boolean not null,
  job_id uuid,
  receipt jsonb,
  requested_by text not null,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3)
)
-- statement
create index erasures_by_project on erasures (project_id, id)
-- statement
create index erasures_by_user on erasures (project_id, user_id_digest, created_at)
-- statement
create table erasure_keys (
  project_id uuid primary key,
  key bytea not null check (octet_length(key) = 32)
)

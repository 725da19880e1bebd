-- Queries that people keep. `body` is a template: places of parameters in it are {"$param": name}.
-- What is private is seen by its owner alone.
create table saved_queries (
  id uuid primary key,
  project_id uuid not null,
  owner text not null,
  name text not null,
  description text not null,
  visibility text not null check (visibility in ('private', 'project')),
  kind text not null check (kind in ('query', 'aggregate')),
  body jsonb not null,
  parameters jsonb not null,
  version int not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
)
-- statement
create unique index saved_queries_by_name on saved_queries (project_id, name)
  where visibility = 'project'
-- statement
create unique index saved_queries_by_owner on saved_queries (project_id, owner, name)
  where visibility = 'private'
-- statement
create index saved_queries_by_project on saved_queries (project_id, id)

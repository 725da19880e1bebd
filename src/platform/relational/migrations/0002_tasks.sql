-- Tasks and conversations with their roll-ups. A roll-up is recomputed from the observations and
-- never added to, so that a redelivered batch changes nothing.
-- No foreign key leads to projects: the worker writes these rows in batches all the time, and a
-- key would make each write look up and share-lock its project's row, to guard against deleting a
-- project, which removes these rows by itself.
create table tasks (
  project_id uuid not null,
  task_id text not null,
  name text not null,
  user_id text,
  conversation_id uuid,
  implicit boolean not null,
  state text not null default 'running' check (state in ('running', 'completed', 'failed')),
  ended_at timestamptz(3),
  ended_by text,
  end_note text,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3) not null,
  last_activity_at timestamptz(3) not null,
  late_activity boolean not null default false,
  calls bigint not null default 0,
  errors bigint not null default 0,
  cancelled bigint not null default 0,
  input_uncached_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_visible_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0,
  total_tokens bigint not null default 0,
  estimated_calls bigint not null default 0,
  cost_usd numeric(20, 9) not null default 0,
  unpriced_calls bigint not null default 0,
  duration_ms bigint not null default 0,
  models text[] not null default '{}',
  providers text[] not null default '{}',
  environment text,
  release text,
  updated_at timestamptz(3) not null default now(),
  primary key (project_id, task_id)
)
-- statement
create index tasks_by_last_activity on tasks (project_id, last_activity_at, task_id)
-- statement
create index tasks_by_start on tasks (project_id, started_at, task_id)
-- statement
create index tasks_by_cost on tasks (project_id, cost_usd, task_id)
-- statement
create index tasks_by_tokens on tasks (project_id, total_tokens, task_id)
-- statement
create index tasks_by_conversation on tasks (project_id, conversation_id, started_at, task_id)
  where conversation_id is not null
-- statement
create index tasks_by_user on tasks (project_id, user_id, last_activity_at, task_id)
  where user_id is not null
-- statement
create index tasks_by_state on tasks (project_id, state, last_activity_at, task_id)
-- statement
create table task_events (
  id uuid primary key,
  project_id uuid not null,
  task_id text not null,
  kind text not null check (kind in ('created', 'completed', 'failed', 'late_activity')),
  at timestamptz(3) not null,
  actor_kind text not null,
  actor_id text,
  note text
)
-- statement
create index task_events_by_task on task_events (project_id, task_id, at)
-- statement
create table conversations (
  project_id uuid not null,
  conversation_id uuid not null,
  external_id text,
  user_id text,
  started_at timestamptz(3) not null,
  last_activity_at timestamptz(3) not null,
  tasks bigint not null default 0,
  traces bigint not null default 0,
  calls bigint not null default 0,
  errors bigint not null default 0,
  total_tokens bigint not null default 0,
  cost_usd numeric(20, 9) not null default 0,
  models text[] not null default '{}',
  updated_at timestamptz(3) not null default now(),
  primary key (project_id, conversation_id)
)
-- statement
create index conversations_by_last_activity
  on conversations (project_id, last_activity_at, conversation_id)
-- statement
create index conversations_by_start on conversations (project_id, started_at, conversation_id)
-- statement
create index conversations_by_cost on conversations (project_id, cost_usd, conversation_id)
-- statement
create index conversations_by_user
  on conversations (project_id, user_id, last_activity_at, conversation_id)
  where user_id is not null

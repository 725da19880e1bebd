-- Onboarding: events that clients post, first steps found in stored data, runs of the seeded scenario.
-- event_id: chosen by the client. subject: `installation:<id>`, or who posted it, such as `user:<id>`.
-- occurred_at: time of the client, corrected by `clock`; client_at: as it was sent. digest: SHA-256 of
-- what the client sent; distinguishes a repeated event from another one with the same id.
create table onboarding_events (
  project_id uuid not null references projects on delete cascade,
  event_id text not null,
  name text not null,
  subject text not null,
  occurred_at timestamptz(3) not null,
  client_at timestamptz(3),
  received_at timestamptz(3) not null,
  clock text not null check (clock in ('client', 'corrected', 'server')),
  skew_ms bigint,
  metadata jsonb not null default '{}',
  masked text[] not null default '{}',
  digest bytea not null,
  posted_by text not null,
  primary key (project_id, event_id)
)
-- statement
create index onboarding_events_by_subject on onboarding_events (project_id, subject, name, occurred_at)
-- statement
create index onboarding_events_by_receipt on onboarding_events (project_id, received_at)
-- statement
create index onboarding_events_received on onboarding_events (received_at)
-- statement
-- The first time of a step in the stored data of a project. It is kept, because retention deletes the data.
create table onboarding_steps (
  project_id uuid not null references projects on delete cascade,
  step text not null,
  reached_at timestamptz(3) not null,
  primary key (project_id, step)
)
-- statement
-- Runs of the seeded scenario. heartbeat_at: a running run without one for a while has lost its process.
-- record: the played tasks with their traces, and what was found of what was expected.
create table onboarding_scenarios (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  state text not null check (state in ('running', 'ended')),
  step text not null,
  outcome text check (outcome in ('as_expected', 'not_as_expected', 'failed', 'interrupted')),
  record jsonb not null,
  error text,
  requested_by text not null,
  started_at timestamptz(3) not null,
  heartbeat_at timestamptz(3) not null,
  ended_at timestamptz(3),
  removed_at timestamptz(3)
)
-- statement
create unique index onboarding_scenarios_running on onboarding_scenarios (project_id) where state = 'running'
-- statement
create index onboarding_scenarios_by_project on onboarding_scenarios (project_id, id)

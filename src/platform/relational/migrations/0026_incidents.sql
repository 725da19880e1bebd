-- Incident rules, their evaluation, incidents, suppressions, and notifications.
-- spec: the rule with all defaults. kind: which of the four conditions it has.
create table incident_rules (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  kind text not null check (kind in ('condition', 'burn_rate', 'baseline', 'event')),
  spec jsonb not null,
  suspended boolean not null,
  version bigint not null,
  managed_by jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  unique (project_id, name)
)
-- statement
create index incident_rules_events on incident_rules (project_id) where kind = 'event' and not suspended
-- statement
-- One evaluator at a time evaluates a project. fence grows with each new holder: a holder whose lease
-- ended cannot write any more.
create table evaluation_leases (
  project_id uuid primary key references projects on delete cascade,
  holder uuid not null,
  fence bigint not null,
  expires_at timestamptz(3) not null
)
-- statement
-- The evaluation of a rule. rule_version: the version that was evaluated completely at least once.
-- last_slot: end of the newest slot that is complete or skipped. cursor: event rules of the ledger.
create table rule_evaluations (
  rule_id uuid primary key references incident_rules on delete cascade,
  project_id uuid not null,
  rule_version bigint not null default 0,
  last_slot timestamptz(3),
  evaluated_at timestamptz(3),
  groups int not null default 0,
  overflow int not null default 0,
  -- The newest gap, the lag of the newest slot, and why the newest slot waits.
  gap_from timestamptz(3),
  gap_to timestamptz(3),
  lag_ms bigint not null default 0,
  partial boolean not null default false,
  failures int not null default 0,
  last_error text,
  cursor jsonb
)
-- statement
create index rule_evaluations_by_project on rule_evaluations (project_id)
-- statement
-- state: GroupState of src/capabilities/incidents/evaluation/contract.ts.
create table rule_states (
  rule_id uuid not null references incident_rules on delete cascade,
  group_key text not null,
  project_id uuid not null,
  state jsonb not null,
  firing boolean not null,
  last_slot timestamptz(3),
  primary key (rule_id, group_key)
)
-- statement
-- What a rule measured at a slot, for the series of an incident and for backtests.
create table rule_samples (
  rule_id uuid not null references incident_rules on delete cascade,
  group_key text not null,
  slot timestamptz(3) not null,
  project_id uuid not null,
  value double precision,
  samples bigint not null,
  lag_ms bigint not null,
  primary key (rule_id, group_key, slot)
)
-- statement
create index rule_samples_by_slot on rule_samples (slot)
-- statement
-- The last number of each project.
create table incident_numbers (
  project_id uuid primary key references projects on delete cascade,
  last bigint not null
)
-- statement
-- core: Incident of src/capabilities/incidents/life-cycle/incident.ts, of which the columns are copies
-- to filter and sort by. rule_name, title, signal, group_values, labels, annotations,
-- runbook_url, grouping: of the rule and group that opened it.
-- timer_at: when the next timer is due. rank: of the severity, 1 info … 5 critical.
create table incidents (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  number bigint not null,
  rule_name text not null,
  title text not null,
  signal text not null,
  group_values jsonb not null,
  labels jsonb not null,
  annotations jsonb not null,
  runbook_url text,
  grouping jsonb not null,
  dedup_key text not null,
  state text not null check (state in ('open', 'acknowledged', 'resolved')),
  severity text not null check (severity in ('info', 'low', 'medium', 'high', 'critical')),
  rank smallint not null,
  assignee text,
  suppressed boolean not null,
  flapping boolean not null,
  orphaned boolean not null,
  shadow boolean not null,
  version bigint not null,
  last_seq bigint not null,
  -- Whether a person, a key or a channel moved it.
  moved boolean not null default false,
  opened_at timestamptz(3) not null,
  first_acknowledged_at timestamptz(3),
  acknowledged_at timestamptz(3),
  resolved_at timestamptz(3),
  updated_at timestamptz(3) not null,
  timer_at timestamptz(3),
  core jsonb not null,
  evidence jsonb not null default '[]',
  unique (project_id, number)
)
-- statement
create unique index incidents_unresolved on incidents (project_id, dedup_key) where state <> 'resolved'
-- statement
create index incidents_by_key on incidents (project_id, dedup_key, number)
-- statement
-- The unresolved incidents of a rule.
create index incidents_by_rule on incidents using gin ((core->'rules')) where state <> 'resolved'
-- statement
create index incidents_by_opening on incidents (project_id, opened_at, id)
-- statement
create index incidents_by_timer on incidents (timer_at) where timer_at is not null
-- statement
create table incident_events (
  incident_id uuid not null references incidents on delete cascade,
  seq bigint not null,
  project_id uuid not null,
  type text not null,
  at timestamptz(3) not null,
  recorded_at timestamptz(3) not null,
  actor_type text not null check (actor_type in ('rule', 'user', 'key', 'channel', 'timer')),
  actor_id text not null,
  note text,
  notify text[] not null default '{}',
  primary key (incident_id, seq)
)
-- statement
create table incident_suppressions (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  spec jsonb not null,
  version bigint not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
)
-- statement
create index incident_suppressions_by_project on incident_suppressions (project_id, id)
-- statement
-- config: without secrets. secrets: sealed with the secret key of the service, by name of the field.
-- disabled_at: the receiver answered 410, or a person disabled it.
create table notification_channels (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  type text not null check (type in ('webhook', 'slack', 'pagerduty', 'alertmanager', 'email')),
  config jsonb not null,
  secrets jsonb not null default '{}',
  fallback text,
  version bigint not null,
  disabled_at timestamptz(3),
  disabled_reason text,
  managed_by jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  unique (project_id, name)
)
-- statement
-- A message to a channel; its id is the `webhook-id` of every attempt. message: the incident as it was
-- at the event. group_key: messages of a channel and a rule are sent together. A channel is named, not
-- referenced: a message to a channel that does not exist is dead, not lost. released: its group was due, or
-- a person sent it again. attempts_before: attempts before the last re-send.
create table notification_outbox (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  incident_id uuid not null references incidents on delete cascade,
  event_seq bigint not null,
  channel text not null,
  reason text not null,
  rule_name text not null,
  grouping jsonb not null,
  message jsonb not null,
  late boolean not null,
  state text not null check (state in ('waiting', 'delivered', 'dead', 'superseded')),
  released boolean not null default false,
  attempts int not null default 0,
  attempts_before int not null default 0,
  next_attempt_at timestamptz(3) not null,
  claim uuid,
  claimed_until timestamptz(3),
  last_error text,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  unique (incident_id, event_seq, channel)
)
-- statement
create index notification_outbox_waiting on notification_outbox (next_attempt_at) where state = 'waiting'
-- statement
create index notification_outbox_by_channel on notification_outbox (project_id, channel, created_at)
-- statement
create index notification_outbox_by_claim on notification_outbox (claim) where claim is not null
-- statement
create index notification_outbox_by_incident on notification_outbox (incident_id, channel, event_seq)
-- statement
-- When messages of a channel and a rule were sent last.
create table message_groups (
  project_id uuid not null references projects on delete cascade,
  channel text not null,
  rule_name text not null,
  last_sent_at timestamptz(3) not null,
  primary key (project_id, channel, rule_name)
)
-- statement
-- What a receiver knows an incident as, such as the timestamp of a Slack message.
create table channel_threads (
  project_id uuid not null references projects on delete cascade,
  channel text not null,
  incident_id uuid not null references incidents on delete cascade,
  thread text not null,
  primary key (incident_id, channel)
)
-- statement
-- Attempts. response: at most 2 KB, without secrets.
create table notification_deliveries (
  id uuid primary key,
  outbox_id uuid references notification_outbox on delete cascade,
  project_id uuid not null references projects on delete cascade,
  channel text not null,
  attempt int not null,
  started_at timestamptz(3) not null,
  duration_ms int not null,
  status int,
  error text,
  response text
)
-- statement
create index notification_deliveries_by_outbox on notification_deliveries (outbox_id, attempt)
-- statement
create index notification_deliveries_by_channel on notification_deliveries (project_id, channel, id)

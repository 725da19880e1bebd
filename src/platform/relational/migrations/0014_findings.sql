-- What detection knows of each task, and when it is due again: a batch marks the tasks it touches.
-- Workers claim what is due (see 0009). `epoch` changes when content of the task is taken out, so
-- that nobody writes what was made of it; `revision` goes up with each result that is written.
-- The keys delete with a task what its content was made into, also what is written meanwhile.
create table task_detections (
  project_id uuid not null,
  task_id text not null,
  touches bigint not null default 0,
  due_at timestamptz(3),
  rests_until timestamptz(3),
  claim uuid,
  claimed_until timestamptz(3),
  failures int not null default 0,
  epoch uuid not null default gen_random_uuid(),
  revision bigint not null default 0,
  detected_at timestamptz(3),
  -- The settings and the detectors that the result is of.
  settings_version bigint,
  detectors text,
  not_checked jsonb not null default '[]',
  ledger jsonb,
  user_ids text[] not null default '{}',
  primary key (project_id, task_id),
  foreign key (project_id, task_id) references tasks on delete cascade
)
-- statement
create index task_detections_due on task_detections (due_at) where due_at is not null
-- statement
create table findings (
  finding_id uuid primary key,
  project_id uuid not null,
  task_id text not null,
  kind text not null check (kind in ('loop', 'failure', 'context')),
  type text not null,
  detector text not null,
  detector_version int not null,
  severity text not null check (severity in ('info', 'low', 'medium', 'high', 'critical')),
  state text not null check (state in ('open', 'recovered', 'withdrawn')),
  summary text not null,
  start_step int,
  end_step int,
  period int,
  repeats int,
  places jsonb not null,
  trace_ids uuid[] not null,
  wasted_tokens bigint not null,
  wasted_cost_usd numeric(20, 9) not null,
  recovered boolean not null,
  confidence double precision not null,
  evidence jsonb not null,
  -- The model that judged it; null when none was asked.
  judge text,
  started_at timestamptz(3) not null,
  first_detected_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  foreign key (project_id, task_id) references tasks on delete cascade
)
-- statement
create index findings_by_task on findings (project_id, task_id)
-- statement
create index findings_by_start on findings (project_id, started_at, finding_id)
-- statement
-- What lists of tasks filter and sort by; few tasks have findings.
alter table tasks
  add column worst_severity smallint not null default 0,
  add column wasted_tokens bigint not null default 0,
  add column wasted_cost_usd numeric(20, 9) not null default 0,
  add column verdict jsonb
-- statement
create index tasks_by_severity on tasks (project_id, worst_severity, task_id)
  where worst_severity > 0
-- statement
-- Thresholds that a project has set. A project without a row has the defaults.
create table detection_settings (
  project_id uuid primary key references projects on delete cascade,
  detectors jsonb not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
)

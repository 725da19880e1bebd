-- Feedback on tasks: items with their history, votes of tasks, hourly counts of votes, and drops;
-- keys for browsers; tools of tasks.
-- A task with feedback. task_ref: the id of the task after it was seen; until then its items wait.
-- Items are deleted with the task. The other task columns are copied when the items are attached,
-- and do not change afterwards, because votes are added to and removed from counts under them.
-- cluster: the user whose votes are correlated, the first that is known of:
-- `user:<id>` of the task, `user:<id>` of the first vote, `conversation:<id>`, `task:<id>`.
-- negative, neutral, positive: votes of end users that count.
create table feedback_tasks (
  project_id uuid not null references projects on delete cascade,
  task_id text not null,
  task_ref text,
  attached boolean not null generated always as (task_ref is not null) stored,
  items int not null default 0,
  negative int not null default 0,
  neutral int not null default 0,
  positive int not null default 0,
  task_name text,
  environment text,
  release text,
  models text[] not null default '{}',
  cluster text,
  task_started_at timestamptz(3),
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  -- While items wait: time of the next look-up of the task, and time when the items are dropped.
  look_at timestamptz(3),
  expires_at timestamptz(3),
  primary key (project_id, task_id),
  foreign key (project_id, task_ref) references tasks on delete cascade
)
-- statement
create index feedback_tasks_by_task on feedback_tasks (project_id, task_ref) where task_ref is not null
-- statement
create index feedback_tasks_waiting on feedback_tasks (look_at) where task_ref is null
-- statement
create index feedback_tasks_by_time on feedback_tasks (project_id, last_at, task_id) where task_ref is not null
-- statement
create index feedback_tasks_by_cluster on feedback_tasks (project_id, cluster)
-- statement
-- An item of feedback with its current value. subject: the owner of the opinion, within task and
-- source: `user:<id>` of the end user, `by:<actor>` for annotators and rules, '' for anonymous end
-- users. sentiment: null for an item without one, such as a comment alone.
-- counts: true for the one item of a subject that is in rates. at: the time under which it counts.
-- body_digest: SHA-256 of the body that created the item; identifies a repeated call.
create table feedback (
  project_id uuid not null,
  task_id text not null,
  feedback_id text not null,
  source text not null check (source in ('end_user', 'annotator', 'rule')),
  subject text not null,
  user_id text,
  trace_id uuid,
  state text not null check (state in ('pending', 'attached', 'withdrawn')),
  rating smallint check (rating between 1 and 5),
  thumbs text check (thumbs in ('up', 'down')),
  labels text[] not null default '{}',
  comment text,
  correction text,
  metadata jsonb not null default '{}',
  sentiment text check (sentiment in ('negative', 'neutral', 'positive')),
  counts boolean not null default false,
  at timestamptz(3) not null,
  time_adjusted boolean not null default false,
  version int not null,
  by_browser boolean not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  body_digest bytea not null check (octet_length(body_digest) = 32),
  primary key (project_id, task_id, feedback_id),
  foreign key (project_id, task_id) references feedback_tasks on delete cascade
)
-- statement
create unique index feedback_counts on feedback (project_id, task_id, source, subject) where counts
-- statement
create index feedback_by_time on feedback (project_id, at, source) include (sentiment, task_id)
  where counts
-- statement
create index feedback_pending on feedback (project_id, by_browser) where state = 'pending'
-- statement
create index feedback_by_user on feedback (project_id, user_id) where user_id is not null
-- statement
-- The versions of an item, one for each change. value: the fields that a client can set.
create table feedback_revisions (
  project_id uuid not null,
  task_id text not null,
  feedback_id text not null,
  version int not null,
  action text not null check (action in ('created', 'edited', 'withdrawn')),
  at timestamptz(3) not null,
  actor text not null,
  value jsonb not null,
  primary key (project_id, task_id, feedback_id, version),
  foreign key (project_id, task_id, feedback_id) references feedback
    on delete cascade on update cascade
)
-- statement
-- Counting votes by hour of `at`, in total and by the value of each dimension. The counts change in
-- the transaction that changes the votes. They contain no user, and are kept when retention or an
-- erasure deletes the items. Votes on tasks of the onboarding environment are not counted.
create table feedback_hours (
  project_id uuid not null references projects on delete cascade,
  source text not null check (source in ('end_user', 'annotator', 'rule')),
  dimension text not null check (dimension in ('all', 'task_name', 'release', 'model', 'label')),
  hour timestamptz(3) not null,
  environment text not null,
  value text not null,
  negative int not null default 0,
  neutral int not null default 0,
  positive int not null default 0,
  primary key (project_id, source, dimension, hour, environment, value)
)
-- statement
-- Items that are not stored, by hour and reason: `task_not_seen`, `pending_limit`, `task_limit`.
create table feedback_drops (
  project_id uuid not null references projects on delete cascade,
  hour timestamptz(3) not null,
  reason text not null,
  items bigint not null,
  primary key (project_id, hour, reason)
)
-- statement
-- A key for browsers: the exact origins that may use it, and its calls a minute for each end user.
alter table api_keys
  add column origins text[],
  add column user_rate_per_minute int check ((origins is null) = (user_rate_per_minute is null))
-- statement
-- Names of the tools that the task called, as detection read them.
alter table task_detections add column tools text[] not null default '{}'

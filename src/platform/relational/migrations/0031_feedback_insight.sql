-- Counts for the statistics and patterns of feedback, and the review queue.
-- A task with votes of a source: its votes and its features (`tool:search`, `model:…`).
-- The row is computed again when the task changes. task_id: as in its feedback; task_ref: the id of
-- the task. at: the last vote. bucket: one of 64 groups of clusters, by a hash. Only attached votes
-- that count, without the onboarding environment.
create table rated_tasks (
  project_id uuid not null,
  source text not null,
  task_id text not null,
  task_ref text not null,
  at timestamptz(3) not null,
  cluster text not null,
  bucket smallint not null,
  is_negative boolean not null,
  votes int not null,
  negative_votes int not null,
  features text[] not null,
  primary key (project_id, source, task_id),
  foreign key (project_id, task_id) references feedback_tasks on delete cascade
)
-- statement
create index rated_tasks_by_task on rated_tasks (project_id, task_id)
-- statement
create index rated_tasks_by_time on rated_tasks (project_id, source, at, task_id)
-- statement
-- Numbers of users are estimated from some buckets.
create index rated_tasks_by_bucket on rated_tasks (project_id, source, bucket, at)
-- statement
-- Sums of rated tasks by day of the last vote (UTC), feature and bucket; feature '' has all tasks.
-- Like hourly counts of votes, they outlive the tasks, and contain no user.
create table rated_task_counts (
  project_id uuid not null references projects on delete cascade,
  source text not null,
  day date not null,
  feature text not null,
  bucket smallint not null,
  tasks int not null,
  negative_tasks int not null,
  votes int not null,
  negative_votes int not null,
  primary key (project_id, source, day, feature, bucket)
)
-- statement
-- Tasks whose row in rated_tasks has to be computed again. A transaction that changes a task adds
-- and locks a row here until its end, so that no change is missed. No foreign key: rows are also
-- added while a project is deleted.
create table rated_tasks_due (
  project_id uuid not null,
  task_id text not null,
  marks int not null default 1,
  primary key (project_id, task_id)
)
-- statement
create function mark_rated_task() returns trigger language plpgsql as $$
begin
  insert into rated_tasks_due (project_id, task_id)
  values (coalesce(new.project_id, old.project_id), coalesce(new.task_id, old.task_id))
  on conflict (project_id, task_id) do update set marks = rated_tasks_due.marks + 1;
  return null;
end $$
-- statement
create trigger feedback_changed after insert or update or delete on feedback
  for each row execute function mark_rated_task()
-- statement
create trigger feedback_cluster_changed after update on feedback_tasks
  for each row when (old.cluster is distinct from new.cluster) execute function mark_rated_task()
-- statement
create function mark_detected_task() returns trigger language plpgsql as $$
begin
  insert into rated_tasks_due (project_id, task_id)
  select project_id, task_id from feedback_tasks
  where project_id = new.project_id and task_ref = new.task_id order by task_id
  on conflict (project_id, task_id) do update set marks = rated_tasks_due.marks + 1;
  return null;
end $$
-- statement
create trigger detection_changed after update on task_detections
  for each row when (old.revision <> new.revision) execute function mark_detected_task()
-- statement
-- All tasks that started on a day, and those of them with votes of end users, by feature: response
-- rates. The row with feature '' says when the day was counted.
create table task_day_counts (
  project_id uuid not null references projects on delete cascade,
  day date not null,
  feature text not null,
  tasks int not null,
  rated int not null,
  counted_at timestamptz(3) not null,
  primary key (project_id, day, feature)
)
-- statement
-- A claim of a task by a reviewer. Before `until`, the queue offers the task to no other reviewer.
-- A skipped task is not offered to the reviewer before `until`.
create table review_claims (
  project_id uuid not null,
  task_id text not null,
  reviewer text not null,
  state text not null check (state in ('claimed', 'skipped')),
  until timestamptz(3) not null,
  primary key (project_id, task_id, reviewer),
  foreign key (project_id, task_id) references tasks on delete cascade
)
-- statement
-- The label that a reviewer gave to a task. It contains no text, so nothing has to be erased.
create table review_labels (
  project_id uuid not null,
  task_id text not null,
  reviewer text not null,
  label text not null check (label in ('correct', 'incorrect', 'partly', 'unclear')),
  version int not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, task_id, reviewer),
  foreign key (project_id, task_id) references tasks on delete cascade
)
-- statement
create index review_labels_by_time on review_labels (project_id, updated_at, task_id)
-- statement
create trigger review_label_changed after insert or update on review_labels
  for each row execute function mark_detected_task()
-- statement
-- A reviewer's verdict whether a finding was right, with the detector at that time.
create table review_finding_labels (
  project_id uuid not null,
  task_id text not null,
  reviewer text not null,
  finding_id uuid not null,
  detector text not null,
  detector_version int not null,
  type text not null,
  is_right boolean not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, finding_id, reviewer),
  foreign key (project_id, task_id, reviewer) references review_labels on delete cascade
)
-- statement
create index review_finding_labels_by_detector on review_finding_labels (project_id, detector, type)

-- What each project has booked for the judge on the last day (UTC) that it was asked. A booking is
-- one statement that refuses above the bound, so that it holds for all processes together.
create table judge_spend (
  project_id uuid primary key references projects on delete cascade,
  day date not null,
  nano_dollars bigint not null
)
-- statement
-- When the judge is to be asked about a task, who holds it by when, and what it was asked: digests of
-- the answers, and how often it failed since. It goes when content of the task is taken out.
alter table task_detections
  add column judge_due_at timestamptz(3),
  add column judge_claimed_until timestamptz(3),
  add column judged jsonb
-- statement
create index task_detections_judge_due on task_detections (judge_due_at)
  where judge_due_at is not null

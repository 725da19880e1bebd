-- Tasks and conversations of so many observations that their roll-ups are refreshed by and by:
-- docs/decisions/0019. A batch marks those that it touches as due.
create table large_rollups (
  project_id uuid not null,
  kind text not null check (kind in ('task', 'conversation')),
  id text not null,
  touches bigint not null default 0,
  due_at timestamptz(3),
  rests_until timestamptz(3),
  claim uuid,
  claimed_until timestamptz(3),
  primary key (project_id, kind, id)
)
-- statement
create index large_rollups_due on large_rollups (due_at) where due_at is not null

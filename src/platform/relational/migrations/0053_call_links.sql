-- Rules for sessions and tasks that the project has switched off: docs/decisions/0044.
alter table projects add column task_rules_off text[] not null default '{}'
-- statement
-- joined_task_id: the task of the calls of a trace that is no task of its own.
alter table recent_traces add column joined_task_id text
-- statement
-- Calls of the last one to two days that give a name, or want the name of a call that they continue:
-- docs/decisions/0044. task_id: the task of the call before it is linked. start_time: nanoseconds
-- since 1970.
create table recent_links (
  project_id uuid not null,
  name text collate "C" not null,
  is_giver boolean not null,
  trace_id uuid not null,
  observation_id text not null,
  task_id text not null,
  start_time bigint not null,
  seen_on date not null default current_date,
  primary key (project_id, name, is_giver, trace_id, observation_id)
)
-- statement
create index recent_links_by_trace on recent_links (project_id, trace_id)
-- statement
create index recent_links_by_day on recent_links (seen_on)

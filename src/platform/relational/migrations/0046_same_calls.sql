-- The provider's name of an answer, and the row that counts a call instead of this one.
alter table hot_observations
  add column if not exists response_id text collate "C" not null default '',
  add column if not exists counted_with text collate "C" not null default ''
-- statement
-- Rows of calls that another row counts.
alter table tasks
  add column if not exists merged_calls bigint not null default 0
-- statement
-- Calls of the last one to two days by the provider's name of their answer, so that a span finds the
-- record of the proxy in another trace: docs/decisions/0043. Times are nanoseconds since 1970.
create table recent_responses (
  project_id uuid not null,
  response_id text not null,
  trace_id uuid not null,
  observation_id text not null,
  is_record boolean not null,
  start_time bigint not null,
  end_time bigint not null,
  seen_on date not null default current_date,
  primary key (project_id, response_id, trace_id, observation_id)
)
-- statement
create index recent_responses_by_day on recent_responses (seen_on)

-- A background response is started by one exchange and retrieved by another, which has its usage:
-- docs/decisions/0043.
alter table recent_responses
  add column if not exists is_retrieved boolean not null default false,
  add column if not exists has_usage boolean not null default true
-- statement
-- The calls of a trace are looked up for each batch.
create index recent_responses_by_trace on recent_responses (project_id, trace_id)

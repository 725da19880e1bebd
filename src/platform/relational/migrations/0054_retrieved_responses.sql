-- A background response is started by one exchange and retrieved by another, which has its usage:
-- docs/decisions/0043.
alter table recent_responses
  add column if not exists is_retrieved boolean not null default false,
  add column if not exists has_usage boolean not null default true

-- Traces with rows of the last one to two days, so that an ancestor that arrives late finds its
-- descendants: docs/decisions/0040. first_start, last_start: the starts of its rows, in nanoseconds
-- since 1970. gives, wants: fields of ownership that a row has, and that a row lacks while one of its
-- ancestors is not stored, as bits. moving: workers that change its rows, or that ended before
-- the roll-ups that follow. Every batch updates its rows, so pages have room for the new versions.
create table recent_traces (
  project_id uuid not null,
  trace_id uuid not null,
  first_start bigint not null,
  last_start bigint not null,
  gives smallint not null,
  wants smallint not null,
  moving smallint not null default 0,
  seen_on date not null default current_date,
  primary key (project_id, trace_id)
) with (fillfactor = 80)
-- statement
create index recent_traces_by_day on recent_traces (seen_on)

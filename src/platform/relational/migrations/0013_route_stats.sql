-- How reads went, by minute, class and store; kept for a week. The histogram counts answers by how
-- long they took: see durations.ts of store-routing for its bounds. Processes add up what they saw.
create table route_stats (
  project_id uuid not null,
  minute timestamptz(3) not null,
  query_class text not null,
  store text not null,
  requests bigint not null,
  errors bigint not null,
  fallbacks bigint not null,
  rows_read bigint not null,
  -- Requests of which it is known what they read.
  rows_read_of bigint not null,
  histogram int[] not null,
  primary key (project_id, minute, query_class, store)
)
-- statement
create index route_stats_by_minute on route_stats (minute)
-- statement
-- Queries as they were asked, values and all, to be asked again by a benchmark; kept for a week.
create table recorded_queries (
  project_id uuid not null,
  hash text not null,
  kind text not null check (kind in ('query', 'aggregate')),
  query_class text not null,
  body jsonb not null,
  times bigint not null,
  slowest_ms double precision not null,
  last_at timestamptz(3) not null,
  primary key (project_id, hash)
)
-- statement
create index recorded_queries_by_last on recorded_queries (last_at)

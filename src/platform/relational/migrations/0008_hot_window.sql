-- How a project's data is written and read; a project without a row has the default: ClickHouse.
create table store_routing (
  project_id uuid primary key references projects on delete cascade,
  write_stores text[] not null,
  hot_window_hours int not null,
  routes jsonb not null,
  fallback boolean not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by uuid
)
-- statement
-- What of a project that writes to PostgreSQL is there: rows that start at or after covered_from
-- (nanoseconds since 1970; null: none yet), but for the days in hot_gaps.
create table hot_coverage (
  project_id uuid primary key,
  covered_from bigint,
  backfill_job uuid
)
-- statement
-- Days (counted from 1970) of which rows went to ClickHouse and not to PostgreSQL.
create table hot_gaps (
  project_id uuid not null,
  day int not null,
  reason text not null,
  marked_at timestamptz(3) not null default clock_timestamp(),
  primary key (project_id, day)
)
-- statement
-- The latest observations of projects that write to PostgreSQL too: columns named as in ClickHouse.
-- Times are nanoseconds since 1970, as timestamptz would lose their last three digits. Partitions
-- are made by who writes, one for each UTC day, and dropped by the job that trims. Text sorts by its
-- bytes, as in ClickHouse.
create table hot_observations (
  project_id uuid not null,
  trace_id uuid not null,
  observation_id text collate "C" not null,
  parent_observation_id text collate "C" not null,
  type text collate "C" not null,
  start_time bigint not null,
  end_time bigint not null,
  status text collate "C" not null,
  source text collate "C" not null,
  task_id text collate "C" not null,
  task_name text collate "C" not null,
  task_implicit boolean not null,
  conversation_id text collate "C" not null,
  conversation_external_id text collate "C" not null,
  user_id text collate "C" not null,
  environment text collate "C" not null,
  release text collate "C" not null,
  provider text collate "C" not null,
  model_requested text collate "C" not null,
  model text collate "C" not null,
  input_uncached_tokens bigint,
  cache_read_tokens bigint,
  cache_write_tokens bigint,
  output_visible_tokens bigint,
  reasoning_tokens bigint,
  usage_source text collate "C" not null,
  cost_usd numeric(18, 9),
  name text collate "C" not null,
  status_code bigint not null,
  outcome text collate "C" not null,
  error_type text collate "C" not null,
  error_message text collate "C" not null,
  contract_version text collate "C" not null,
  endpoint text collate "C" not null,
  service_name text collate "C" not null,
  agent_name text collate "C" not null,
  span_kind text collate "C" not null,
  level text collate "C" not null,
  content_state text collate "C" not null,
  streamed boolean not null,
  finish_reason text collate "C" not null,
  usage_semantics text collate "C" not null,
  price_version text collate "C" not null,
  time_to_first_token_ms double precision,
  request_bytes bigint not null,
  response_bytes bigint not null,
  mapped_from text collate "C" not null,
  input text collate "C" not null,
  output text collate "C" not null,
  tool_calls jsonb not null,
  tool_results jsonb not null,
  attributes jsonb not null,
  metadata jsonb not null,
  message_id text collate "C" not null,
  ingested_at timestamptz(3) not null,
  primary key (project_id, start_time, trace_id, observation_id)
) partition by range (start_time)
-- statement
create index hot_observations_by_trace on hot_observations (project_id, trace_id)
-- statement
create index hot_observations_by_task on hot_observations (project_id, task_id, start_time)
-- statement
create index hot_observations_by_conversation
  on hot_observations (project_id, conversation_id, start_time)
-- statement
-- What was said of whole traces, beside those observations.
create table hot_traces (
  project_id uuid not null,
  trace_id uuid not null,
  time bigint not null,
  name text collate "C" not null,
  source text collate "C" not null,
  task_id text collate "C" not null,
  task_name text collate "C" not null,
  conversation_id text collate "C" not null,
  conversation_external_id text collate "C" not null,
  user_id text collate "C" not null,
  environment text collate "C" not null,
  release text collate "C" not null,
  input text collate "C" not null,
  output text collate "C" not null,
  metadata jsonb not null,
  message_id text collate "C" not null,
  ingested_at timestamptz(3) not null,
  primary key (project_id, time, trace_id)
) partition by range (time)
-- statement
create index hot_traces_by_trace on hot_traces (project_id, trace_id)

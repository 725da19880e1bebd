-- Verification: runs, claims, overrides, model calls and their budget, calibrations, policies; the
-- knowledge base with its postings and facts; trust of tasks.
-- A run verifies the answer of one trace. The newest run of a trace that ended as verified is its
-- result. trace_start: start of the trace, by which retention deletes a run, because claims quote
-- content. context: digests and sizes of what the run read.
create table verification_runs (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  trace_id uuid not null,
  task_id text,
  user_id text,
  environment text,
  trace_start timestamptz(3) not null,
  state text not null check (state in ('pending', 'verified', 'failed', 'cancelled')),
  trigger text not null check (trigger in ('request', 'task', 'policy')),
  requested_by text not null,
  verifiers jsonb not null,
  job_id uuid,
  -- Observation with the answer, and SHA-256 of the answer; null until the run has read it.
  answer_observation_id text,
  answer_digest text,
  answer_chars int,
  context jsonb,
  -- Null until verified; trust_score is null also without a claim that a verifier decided.
  trust_score double precision,
  trust jsonb,
  claims int not null default 0,
  counts jsonb,
  values_checked int not null default 0,
  verifier_runs jsonb,
  cost_nano_dollars bigint not null default 0,
  tokens bigint not null default 0,
  error jsonb,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3)
)
-- statement
create unique index verification_runs_pending on verification_runs (project_id, trace_id) where state = 'pending'
-- statement
create index verification_runs_trace on verification_runs (project_id, trace_id, id desc)
-- statement
create index verification_runs_task on verification_runs (project_id, task_id, id desc) where task_id is not null
-- statement
create index verification_runs_ended on verification_runs (project_id, ended_at) where state = 'verified'
-- statement
create index verification_runs_start on verification_runs (project_id, trace_start)
-- statement
-- A claim of a run. starts_at, ends_at: UTF-16 offsets in the answer. digest: SHA-256 of the
-- normalised text, by which an override and a diff find the claim in other runs. results: one
-- entry for each verifier. verdict and probability: fused by the trust formula, without overrides.
create table verification_claims (
  id uuid primary key,
  run_id uuid not null references verification_runs on delete cascade,
  project_id uuid not null,
  trace_id uuid not null,
  position int not null,
  text text not null,
  starts_at int not null,
  ends_at int not null,
  kind text not null,
  digest text not null,
  verdict text not null,
  probability double precision,
  weight double precision not null,
  results jsonb not null,
  checked_values jsonb not null,
  unique (run_id, position)
)
-- statement
create index verification_claims_digest on verification_claims (project_id, trace_id, digest)
-- statement
-- A person's verdict on a claim of a trace. It outlives runs, and labels calibrations. machine: the
-- results at the time of the override.
create table verification_overrides (
  project_id uuid not null references projects on delete cascade,
  trace_id uuid not null,
  claim_digest text not null,
  verdict text not null check (verdict in ('supported', 'contradicted')),
  reason text not null,
  machine jsonb not null,
  trace_start timestamptz(3) not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  primary key (project_id, trace_id, claim_digest)
)
-- statement
-- Calls of models and search endpoints by runs: they are no observations of the project. key: which
-- question of the run, so that a repeated step books nothing twice.
create table verification_calls (
  id uuid primary key,
  run_id uuid not null references verification_runs on delete cascade,
  project_id uuid not null,
  key text not null,
  verifier text not null,
  model text not null,
  outcome text not null,
  reply jsonb,
  input_tokens bigint,
  output_tokens bigint,
  nano_dollars bigint not null,
  duration_ms int,
  created_at timestamptz(3) not null,
  unique (run_id, key)
)
-- statement
-- Booked costs of a day (UTC). A booking is one statement that refuses above the limit.
create table verification_spend (
  project_id uuid not null references projects on delete cascade,
  day date not null,
  nano_dollars bigint not null,
  primary key (project_id, day)
)
-- statement
create table verification_calibrations (
  project_id uuid not null references projects on delete cascade,
  verifier text not null,
  version bigint not null,
  calibration jsonb not null,
  brier double precision,
  ece double precision,
  created_at timestamptz(3) not null,
  primary key (project_id, verifier)
)
-- statement
create table verification_policies (
  project_id uuid primary key references projects on delete cascade,
  policy jsonb not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
)
-- statement
create table kb_documents (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  title text not null,
  format text not null check (format in ('text', 'markdown', 'html', 'json')),
  url text,
  version bigint not null,
  digest text not null,
  bytes bigint not null,
  chunks int not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  unique (project_id, name)
)
-- statement
create table kb_document_versions (
  document_id uuid not null references kb_documents on delete cascade,
  version bigint not null,
  format text not null,
  source text not null,
  digest text not null,
  bytes bigint not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  primary key (document_id, version)
)
-- statement
-- A passage of the current version of a document. starts_at, ends_at: UTF-16 offsets in its source.
create table kb_chunks (
  id bigint generated always as identity primary key,
  project_id uuid not null,
  document_id uuid not null references kb_documents on delete cascade,
  version bigint not null,
  position int not null,
  text text not null,
  context text not null,
  starts_at int not null,
  ends_at int not null,
  terms int not null,
  digest text not null,
  unique (document_id, version, position)
)
-- statement
create index kb_chunks_project on kb_chunks (project_id)
-- statement
create table kb_terms (
  project_id uuid not null,
  term text not null,
  chunk_id bigint not null references kb_chunks on delete cascade,
  tf int not null,
  terms int not null,
  -- A search reads the index only.
  primary key (project_id, term, chunk_id) include (tf, terms)
)
-- statement
create index kb_terms_chunk on kb_terms (chunk_id)
-- statement
-- Sizes of a project's index: BM25 needs the number of chunks and their mean length.
create table kb_stats (
  project_id uuid primary key references projects on delete cascade,
  documents bigint not null default 0,
  chunks bigint not null default 0,
  terms bigint not null default 0,
  bytes bigint not null default 0,
  facts bigint not null default 0
)
-- statement
create table kb_embeddings (
  chunk_id bigint not null references kb_chunks on delete cascade,
  model text not null,
  vector real[] not null,
  primary key (chunk_id, model)
)
-- statement
create table kb_facts (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  subject text not null,
  attribute text not null,
  value text not null,
  unit text not null default '',
  source text not null default '',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  unique (project_id, subject, attribute, unit)
)
-- statement
-- Trust of the newest verified answer of the task; verification_state: of its newest run.
alter table tasks
  add column trust_score double precision,
  add column trust_coverage double precision,
  add column verification_state text,
  add column verified_at timestamptz(3)
-- statement
create index tasks_trust on tasks (project_id, trust_score, task_id) where trust_score is not null
-- statement
-- Workers claim jobs of a kind, in turn from all projects.
create index job_runs_waiting on job_runs (kind, project_id, due_at) where state in ('queued', 'running')

-- Certification: policies with their versions, eval runs with their cases, certifications with
-- their attempts, evidence and statements, and the keys that signed statements.
-- A policy with its current version. A deleted policy keeps its versions: statements name them.
create table certification_policies (
  project_id uuid not null references projects on delete cascade,
  policy_id text not null,
  version int not null,
  managed_by jsonb,
  created_at timestamptz(3) not null,
  created_by text not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  deleted_at timestamptz(3),
  primary key (project_id, policy_id)
)
-- statement
-- document: the policy without its digest. A version never changes.
create table certification_policy_versions (
  project_id uuid not null references projects on delete cascade,
  policy_id text not null,
  version int not null,
  digest text not null,
  document jsonb not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  primary key (project_id, policy_id, version)
)
-- statement
-- An uploaded eval run of a release. digest: root of the Merkle tree of its cases.
create table certification_eval_runs (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  release_name text not null,
  release_version text not null,
  image_digest text,
  environment text not null,
  format text not null check (format in ('junit', 'jsonl')),
  digest text not null,
  cases int not null,
  passed int not null,
  failed int not null,
  skipped int not null,
  created_at timestamptz(3) not null,
  created_by text not null
)
-- statement
create index certification_eval_runs_release
  on certification_eval_runs (project_id, release_name, release_version, id desc)
-- statement
create index certification_eval_runs_newest on certification_eval_runs (project_id, id desc)
-- statement
-- Retention deletes by created_at; an erased user is replaced in cluster by a random name.
create table certification_eval_cases (
  run_id uuid not null references certification_eval_runs on delete cascade,
  project_id uuid not null,
  case_id text not null,
  repeat int not null,
  cluster text,
  name text,
  passed boolean,
  score double precision,
  duration_ms double precision,
  cost_usd double precision,
  primary key (run_id, case_id, repeat)
)
-- statement
create index certification_eval_cases_cluster on certification_eval_cases (project_id, cluster)
  where cluster is not null
-- statement
-- Attempts at a release. subject identifies the release: the digest of the image, or the SHA-256 of
-- name@version. The row is locked while an attempt is counted.
create table certification_subjects (
  project_id uuid not null references projects on delete cascade,
  subject text not null,
  attempts int not null default 0,
  primary key (project_id, subject)
)
-- statement
-- The declaration of the first certification of a release by a policy. Later certifications use the
-- same evidence and newer evidence.
create table certification_plans (
  project_id uuid not null references projects on delete cascade,
  subject text not null,
  environment text not null,
  policy_id text not null,
  window_from timestamptz(3) not null,
  release_tags text[] not null,
  baseline jsonb,
  eval_run_ids uuid[] not null default '{}',
  declared_at timestamptz(3) not null,
  primary key (project_id, subject, environment, policy_id)
)
-- statement
-- One look at the evidence of a release. policy: the document of the version, without its digest.
-- release_tags: releases of its tasks. request_digest: SHA-256 of the request. attempt: null until
-- the worker reads evidence. frozen: facts that were read with the evidence. evidence_salt: salt of
-- the ids in the evidence; erasing a user removes it. held_until: when the evidence is deleted.
-- statement: the signed DSSE envelope; predicate: its readable part.
create table certifications (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  policy_id text not null,
  policy_version int not null,
  policy_digest text not null,
  policy jsonb not null,
  release_name text not null,
  release_version text not null,
  release_tags text[] not null,
  image_digest text,
  subject text not null,
  environment text not null,
  window_from timestamptz(3) not null,
  window_to timestamptz(3) not null,
  baseline jsonb,
  eval_run_ids uuid[] not null default '{}',
  declared_at timestamptz(3) not null,
  state text not null check (state in ('pending', 'running', 'ended', 'cancelled', 'failed')),
  attempt int,
  job_id uuid,
  request_digest text not null,
  requested_by text not null,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  verdict text check (verdict in ('certified', 'rejected', 'inconclusive')),
  frozen jsonb,
  predicate jsonb,
  statement text,
  key_id text,
  expires_at timestamptz(3),
  evidence_salt bytea,
  held_until timestamptz(3),
  error text
)
-- statement
create unique index certifications_open
  on certifications (project_id, subject, environment, policy_id)
  where state in ('pending', 'running')
-- statement
create index certifications_newest on certifications (project_id, id desc)
-- statement
create index certifications_subject on certifications (project_id, subject, id desc)
-- statement
create index certifications_unended on certifications (window_to) where state in ('pending', 'running')
-- statement
create index certifications_held on certifications (held_until) where held_until is not null
-- statement
-- Evidence of a certification in pages. side: release or baseline. Ids are salted digests.
create table certification_evidence (
  certification_id uuid not null references certifications on delete cascade,
  project_id uuid not null,
  side text not null check (side in ('release', 'baseline')),
  source text not null check (source in ('tasks', 'eval')),
  page int not null,
  items jsonb not null,
  primary key (certification_id, side, source, page)
)
-- statement
-- Keys that signed statements. private_key_encrypted: null for a key of the configuration. Public
-- keys are kept, so that old statements can be verified.
create table certification_keys (
  key_id text primary key,
  public_jwk jsonb not null,
  private_key_encrypted bytea,
  created_at timestamptz(3) not null
)

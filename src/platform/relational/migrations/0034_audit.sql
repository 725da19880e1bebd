-- The chain of an organization, or of the installation (the nil UUID): the position of its last
-- record. The row is locked last, just before the commit of the change that it records.
create table audit_chains (
  chain_id uuid primary key,
  seq bigint not null,
  hash bytea not null,
  pruned_seq bigint not null default 0,
  pruned_hash bytea not null default decode(repeat('00', 32), 'hex'),
  checkpoint_seq bigint not null default 0,
  checkpoint_digest bytea,
  checkpoint_at timestamptz(3)
)
-- statement
-- One record for each audited call. `origin_hash` and `change_hash` are commitments to the values
-- beside them, which can be erased.
create table audit_records (
  chain_id uuid not null,
  seq bigint not null,
  recorded_at timestamptz(3) not null,
  action text not null,
  outcome text not null,
  code text,
  actor_kind text not null,
  actor_id text,
  via text not null,
  resource_type text not null,
  resource_id text,
  project_id uuid,
  request_id text not null,
  suppressed integer not null,
  segment_count integer,
  segment_hash bytea,
  origin_hash bytea,
  origin_salt bytea,
  origin_value text,
  change_hash bytea,
  change_salt bytea,
  change_value text,
  hash bytea not null,
  primary key (chain_id, seq)
)
-- statement
create index audit_records_by_time on audit_records (chain_id, recorded_at)
-- statement
create index audit_records_by_actor on audit_records (chain_id, actor_id, seq)
-- statement
create index audit_records_by_resource on audit_records (chain_id, resource_id, seq)
-- statement
-- Reads of content by people. They are stored at once, and sealed a second later: `segment_seq` is
-- the record of the chain that has the hash of the segment.
create table audit_reads (
  id uuid primary key,
  chain_id uuid not null,
  read_at timestamptz(3) not null,
  action text not null,
  actor_kind text not null,
  actor_id text not null,
  via text not null,
  resource_type text not null,
  resource_id text,
  project_id uuid,
  request_id text not null,
  origin_hash bytea not null,
  origin_salt bytea,
  origin_value text,
  segment_seq bigint
)
-- statement
create index audit_reads_unsealed on audit_reads (chain_id, id) where segment_seq is null
-- statement
create index audit_reads_by_segment on audit_reads (chain_id, segment_seq)
-- statement
create index audit_reads_by_actor on audit_reads (chain_id, actor_id)
-- statement
-- Signed checkpoints of chains. Published copies outside of this database protect the chains.
create table audit_checkpoints (
  chain_id uuid not null,
  seq bigint not null,
  kind text not null check (kind in ('head', 'pruned')),
  envelope text not null,
  created_at timestamptz(3) not null,
  published_at timestamptz(3),
  primary key (chain_id, seq, kind)
)
-- statement
create index audit_checkpoints_unpublished on audit_checkpoints (created_at) where published_at is null
-- statement
-- Keys that sign checkpoints. The private keys are encrypted with the service's secret. Public keys
-- are kept for ever, because old checkpoints are verified with them.
create table audit_keys (
  id text primary key,
  public_key text not null,
  private_key_encrypted bytea not null,
  created_at timestamptz(3) not null
)

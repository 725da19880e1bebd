-- Reads of content by people that no record seals yet. A process writes reads to a journal on its
-- disk before it sends their answers, and stores a segment of the journal as one row for each
-- chain. A worker moves them to `audit_reads` with
-- the record that seals them, so that no row of `audit_reads` is ever updated to seal it.
create table audit_read_batches (
  id bigint generated always as identity primary key,
  segment_id uuid not null default gen_random_uuid(),
  chain_id uuid not null,
  read_count integer not null,
  -- A JSON array of rows of `audit_reads` without `chain_id` and `segment_seq`; bytes in hex.
  reads text not null,
  unique (segment_id, chain_id)
)
-- statement
-- The last erasure of each person in a chain. A read that was in a journal at that time is sealed
-- without address and client of the person.
create table audit_erasures (
  chain_id uuid not null,
  user_id text not null,
  erased_at timestamptz(3) not null,
  primary key (chain_id, user_id)
)
-- statement
with unsealed as (delete from audit_reads where segment_seq is null returning *)
insert into audit_read_batches (chain_id, read_count, reads)
select chain_id, 1, json_build_array(json_build_object(
  'id', id,
  'read_at', to_char(read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'action', action, 'actor_kind', actor_kind, 'actor_id', actor_id, 'via', via,
  'resource_type', resource_type, 'resource_id', resource_id, 'project_id', project_id,
  'request_id', request_id, 'origin_hash', encode(origin_hash, 'hex'),
  'origin_salt', encode(origin_salt, 'hex'), 'origin_value', origin_value
))::text
from unsealed order by id
-- statement
drop index audit_reads_unsealed
-- statement
-- Stores reads of a chain from a segment of a journal, once. PostgreSQL keeps the plans of a
-- function, so that a call costs less than its statements.
create function store_audit_reads(segment uuid, chain uuid, count integer, reads_json text)
returns void
language plpgsql as $$
begin
  insert into audit_read_batches (segment_id, chain_id, read_count, reads)
  values (segment, chain, count, reads_json)
  on conflict (segment_id, chain_id) do nothing;
end $$
-- statement
-- Appends a record to its chain, and returns its number. The caller prepares the bytes of the
-- record without its position. The row of the chain is locked until the end of the transaction.
create function append_audit_record(
  body bytea, chain uuid, recorded_at timestamptz, action text, outcome text, code text,
  actor_kind text,
  actor_id text, via text, resource_type text, resource_id text, project_id uuid, request_id text,
  suppressed integer, segment_count integer, segment_hash bytea,
  origin_hash bytea, origin_salt bytea, origin_value text,
  change_hash bytea, change_salt bytea, change_value text
) returns bigint language plpgsql as $$
declare
  head record;
begin
  update audit_chains as stored
  set seq = stored.seq + 1, hash = sha256(body || int8send(stored.seq + 1) || stored.hash)
  where stored.chain_id = chain
  returning stored.seq, stored.hash into head;
  if not found then
    insert into audit_chains as stored (chain_id, seq, hash)
    values (chain, 1, sha256(body || int8send(1) || decode(repeat('00', 32), 'hex')))
    on conflict (chain_id) do update
    set seq = stored.seq + 1, hash = sha256(body || int8send(stored.seq + 1) || stored.hash)
    returning stored.seq, stored.hash into head;
  end if;
  insert into audit_records (
    chain_id, recorded_at, action, outcome, code, actor_kind, actor_id, via, resource_type,
    resource_id, project_id, request_id, suppressed, segment_count, segment_hash,
    origin_hash, origin_salt, origin_value, change_hash, change_salt, change_value, seq, hash
  ) values (
    chain, recorded_at, action, outcome, code, actor_kind, actor_id, via, resource_type,
    resource_id, project_id, request_id, suppressed, segment_count, segment_hash,
    origin_hash, origin_salt, origin_value, change_hash, change_salt, change_value,
    head.seq, head.hash
  );
  return head.seq;
end $$

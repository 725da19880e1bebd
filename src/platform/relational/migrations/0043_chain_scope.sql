-- The chain of the scope: that of its organization. The service gives the organization of a project
-- as `looptrace.chain_id`, if it knows it.
create function looptrace_chain_id() returns uuid
  language sql stable parallel safe as $$
  select coalesce(
    nullif(current_setting('looptrace.chain_id', true), ''),
    nullif(current_setting('looptrace.organization_id', true), '')
  )::uuid
$$
-- statement
-- Appends a record to its chain, and returns its number. The caller prepares the bytes of the
-- record without its position. The row of the chain is locked until the end of the transaction.
-- The policies of the chain do not look for the organization of a project, because that cost as much
-- as the two rows. If the scope does not have the chain, this function looks for it.
create or replace function append_audit_record(
  body bytea, chain uuid, recorded_at timestamptz, action text, outcome text, code text,
  actor_kind text,
  actor_id text, via text, resource_type text, resource_id text, project_id uuid, request_id text,
  suppressed integer, segment_count integer, segment_hash bytea,
  origin_hash bytea, origin_salt bytea, origin_value text,
  change_hash bytea, change_salt bytea, change_value text
) returns bigint language plpgsql as $$
declare
  record_seq bigint;
  record_hash bytea;
begin
  update audit_chains as stored
  set seq = stored.seq + 1, hash = sha256(body || int8send(stored.seq + 1) || stored.hash)
  where stored.chain_id = chain
  returning stored.seq, stored.hash into record_seq, record_hash;
  if not found then
    if looptrace_chain_id() is null and looptrace_project_id() is not null then
      perform set_config('looptrace.chain_id', organization_id::text, true)
      from projects where id = looptrace_project_id();
    end if;
    insert into audit_chains as stored (chain_id, seq, hash)
    values (chain, 1, sha256(body || int8send(1) || decode(repeat('00', 32), 'hex')))
    on conflict (chain_id) do update
    set seq = stored.seq + 1, hash = sha256(body || int8send(stored.seq + 1) || stored.hash)
    returning stored.seq, stored.hash into record_seq, record_hash;
  end if;
  insert into audit_records (
    chain_id, recorded_at, action, outcome, code, actor_kind, actor_id, via, resource_type,
    resource_id, project_id, request_id, suppressed, segment_count, segment_hash,
    origin_hash, origin_salt, origin_value, change_hash, change_salt, change_value, seq, hash
  ) values (
    chain, recorded_at, action, outcome, code, actor_kind, actor_id, via, resource_type,
    resource_id, project_id, request_id, suppressed, segment_count, segment_hash,
    origin_hash, origin_salt, origin_value, change_hash, change_salt, change_value,
    record_seq, record_hash
  );
  return record_seq;
end $$

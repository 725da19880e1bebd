-- Records that the receiver of a stream refused in their shortest form. The stream goes on without a
-- record from `set_aside_at` on; until then it waits for the record.
create table audit_stream_refusals (
  stream text not null,
  chain_id uuid not null,
  seq bigint not null,
  status integer not null,
  attempts integer not null,
  refused_at timestamptz(3) not null,
  set_aside_at timestamptz(3),
  primary key (stream, chain_id, seq)
)
-- statement
-- Records that were set aside since the receiver last accepted a new one.
alter table audit_streams add column set_aside_in_row integer not null default 0

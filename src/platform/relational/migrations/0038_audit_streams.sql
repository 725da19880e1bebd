-- The streams of audit records to receivers outside of the service, by their names. A stream waits
-- until `next_attempt_at` after `attempts` failed requests. The row is locked while a worker sends.
create table audit_streams (
  name text primary key,
  attempts integer not null default 0,
  next_attempt_at timestamptz(3)
)
-- statement
-- The last record of each chain that the receiver of a stream accepted.
create table audit_stream_cursors (
  stream text not null,
  chain_id uuid not null,
  seq bigint not null,
  sent_at timestamptz(3) not null,
  primary key (stream, chain_id)
)
-- statement without transaction
-- Erasures of end users read the records of a project.
create index concurrently if not exists audit_records_by_project on audit_records (project_id, seq)
  where project_id is not null
-- statement without transaction
-- A killed build leaves an invalid index.
reindex index concurrently audit_records_by_project

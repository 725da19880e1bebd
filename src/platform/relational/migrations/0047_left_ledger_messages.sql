-- Ledger messages of an edge that ended while the queue was unavailable. A worker publishes them, so that
-- records which its disk took along are counted as lost.
create table left_ledger_messages (
  id text primary key,
  project_id uuid not null,
  data bytea not null,
  left_at timestamptz not null default now()
)

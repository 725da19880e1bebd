-- Batches of POST /api/v2/observability/ingest, one row for each idempotency key of a project.
-- No foreign key leads to projects, as in 0002: the rows live for a week and go by themselves.
create table ingest_requests (
  ingest_request_id uuid primary key,
  project_id uuid not null,
  idempotency_key text not null,
  body_hash bytea not null check (octet_length(body_hash) = 32),
  schema_version text not null,
  first_seen_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  replayed_hits bigint not null default 0,
  -- Which call is handing the batch to the queue, and since when; null when none is.
  claim_id uuid,
  claimed_at timestamptz(3),
  -- Null until every message of the batch is durable in the queue.
  messages_total int,
  items bigint not null default 0,
  rejected bigint not null default 0,
  -- json and not jsonb: a fault may quote U+0000, which jsonb can't hold.
  errors json not null default '[]',
  errors_left_out bigint not null default 0,
  error_reason text,
  processing_at timestamptz(3),
  unique (project_id, idempotency_key)
)
-- statement
create index ingest_requests_by_first_seen on ingest_requests (first_seen_at)
-- statement
-- What became of each message of a batch. A message that settles again replaces its row, so that
-- redeliveries add nothing; what a request came to is summed up when it is read.
create table ingest_request_messages (
  ingest_request_id uuid not null references ingest_requests on delete cascade,
  message_id text not null,
  settled_at timestamptz(3) not null,
  failed boolean not null,
  attempts int not null,
  stored bigint not null,
  rejected bigint not null,
  lost bigint not null,
  traces bigint not null,
  observations bigint not null,
  events bigint not null,
  links bigint not null,
  correlations bigint not null,
  error_reason text,
  primary key (ingest_request_id, message_id)
)

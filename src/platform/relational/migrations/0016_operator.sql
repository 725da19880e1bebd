-- Keys of the operators of clusters. Each is good in every project, on routes that let an operator
-- in. A key is looked up by its prefix and compared by its hash, the SHA-256 of the whole key.
create table operator_keys (
  id uuid primary key,
  prefix text not null unique,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
)
-- statement
-- The custom resource that declares the account.
alter table service_accounts add column managed_by jsonb
-- statement
create unique index service_accounts_by_owner on service_accounts
  (project_id, (managed_by->>'kind'), (managed_by->>'namespace'), (managed_by->>'name'))
  where managed_by is not null

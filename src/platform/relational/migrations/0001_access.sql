-- Who may do what: organizations, people, projects, keys, tokens.
-- Instants have three digits, as JavaScript's have: what is read equals what is stored.
create table organizations (
  id uuid primary key,
  name text not null unique,
  created_at timestamptz(3) not null default now()
)
-- statement
create table users (
  id uuid primary key,
  email text not null unique check (email = lower(email)),
  password_hash text,
  display_name text not null,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now()
)
-- statement
create table organization_members (
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, user_id)
)
-- statement
create index organization_members_by_user on organization_members (user_id)
-- statement
create table projects (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  created_at timestamptz(3) not null default now(),
  archived_at timestamptz(3),
  unique (organization_id, name)
)
-- statement
create table project_members (
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  created_at timestamptz(3) not null default now(),
  primary key (project_id, user_id)
)
-- statement
create index project_members_by_user on project_members (user_id)
-- statement
create table service_accounts (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  scopes text[] not null default '{}',
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  unique (project_id, name)
)
-- statement
-- A key is looked up by its prefix and compared by its hash, the SHA-256 of the whole key.
create table api_keys (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  service_account_id uuid references service_accounts on delete cascade,
  name text not null,
  prefix text not null unique,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  scopes text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
)
-- statement
create index api_keys_by_project on api_keys (project_id, created_at, id)
-- statement
create index api_keys_by_service_account on api_keys (service_account_id)
  where service_account_id is not null
-- statement
create table signing_keys (
  id text primary key,
  public_jwk jsonb not null,
  private_key_encrypted bytea not null,
  created_at timestamptz(3) not null default now(),
  activates_at timestamptz(3) not null,
  retires_at timestamptz(3)
)
-- statement
create table refresh_tokens (
  id uuid primary key,
  family_id uuid not null,
  user_id uuid not null references users on delete cascade,
  token_hash bytea not null unique,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  revoked_at timestamptz(3)
)
-- statement
create index refresh_tokens_by_family on refresh_tokens (family_id)
-- statement
create index refresh_tokens_by_user on refresh_tokens (user_id)
-- statement
create index refresh_tokens_by_expiry on refresh_tokens (expires_at)
-- statement
create table idempotency_keys (
  scope_hash bytea primary key,
  request_hash bytea not null,
  status int,
  reply jsonb,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
)
-- statement
create index idempotency_keys_by_expiry on idempotency_keys (expires_at)

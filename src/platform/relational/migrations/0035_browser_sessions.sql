-- A person at an external issuer. `client_id` is the audience of the tokens: some issuers give a
-- person another subject for each client.
create table user_identities (
  issuer text not null,
  client_id text not null,
  subject text not null check (subject <> '' and length(subject) <= 255),
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null,
  primary key (issuer, client_id, subject),
  unique (user_id, issuer, client_id)
)
-- statement
-- A session of a browser. token_hash: SHA-256 of the cookie. previous_hash: of the cookie before it,
-- which is accepted for a short time after the renewal. by_issuer: signed in at the external issuer.
create table browser_sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  session_number integer not null,
  by_issuer boolean not null,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  previous_hash bytea check (octet_length(previous_hash) = 32),
  renewed_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  used_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3)
)
-- statement
create unique index browser_sessions_by_previous on browser_sessions (previous_hash)
  where previous_hash is not null
-- statement
create index browser_sessions_by_user on browser_sessions (user_id) where ended_at is null
-- statement
create index browser_sessions_by_expiry on browser_sessions (expires_at)
-- statement
-- Sign-ins at the external issuer that came back, so that each comes back once.
create table used_sign_ins (
  state_hash bytea primary key check (octet_length(state_hash) = 32),
  expires_at timestamptz(3) not null
)
-- statement
create index used_sign_ins_by_expiry on used_sign_ins (expires_at)
-- statement
-- by_group: whether the role comes from groups of the external issuer only, and ends with them.
alter table organization_members add column by_group boolean not null default false
-- statement
alter table project_members add column by_group boolean not null default false

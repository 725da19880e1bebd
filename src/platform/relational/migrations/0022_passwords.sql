-- Time at which the person proved to read the mails of the address.
alter table users add column if not exists email_verified_at timestamptz(3)
-- statement
-- Failed sign-ins, counted by account and network together, by network, and by account. A key is the
-- SHA-256 of what it counts. Rows are deleted once the count has leaked to zero, at clear_at.
create table sign_in_counts (
  key_hash bytea primary key check (octet_length(key_hash) = 32),
  account_hash bytea check (octet_length(account_hash) = 32),
  failed_at timestamptz(3) not null,
  clear_at timestamptz(3) not null
)
-- statement
create index sign_in_counts_by_account on sign_in_counts (account_hash) where account_hash is not null
-- statement
create index sign_in_counts_by_expiry on sign_in_counts (clear_at)
-- statement
-- Networks from which an account signed in. The attempts of others do not delay them.
create table sign_in_networks (
  account_hash bytea not null check (octet_length(account_hash) = 32),
  network_hash bytea not null check (octet_length(network_hash) = 32),
  used_at timestamptz(3) not null,
  primary key (account_hash, network_hash)
)
-- statement
create index sign_in_networks_by_use on sign_in_networks (used_at)
-- statement
-- Links that set a new password. Only the SHA-256 of the token is stored.
create table password_resets (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id uuid not null references users on delete cascade,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- Whether the link was sent to the person's address, so that its use confirms the address.
  is_mailed boolean not null,
  -- The administrator who made the link.
  created_by uuid references users on delete set null
)
-- statement
create index password_resets_by_user on password_resets (user_id, created_at)
-- statement
create index password_resets_by_age on password_resets (created_at)

-- A project admin revoked a key of the account in an emergency. No key is minted until somebody resumes
-- the account.
alter table service_accounts
  add column suspended_at timestamptz(3),
  add column suspended_by uuid,
  add column suspended_reason text
-- statement
-- Emergency revocations and the resumptions of accounts, as a record. `actor` is the id of a user, or the
-- resource for which an operator called.
create table access_emergencies (
  id uuid primary key,
  project_id uuid not null,
  service_account_id uuid,
  api_key_id uuid,
  action text not null check (action in ('revoke', 'resume')),
  actor text not null,
  reason text not null,
  occurred_at timestamptz(3) not null
)
-- statement
create index access_emergencies_by_project on access_emergencies (project_id, id)

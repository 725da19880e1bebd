-- The first start created the first organization and its owner at the same instant. That person is
-- an administrator of the installation; if they left, the owners of that organization are.
with first as (select id, created_at from organizations order by created_at, id limit 1),
owners as (
  select users.id, users.created_at = first.created_at as is_first
  from first
  join organization_members on organization_members.organization_id = first.id
  join users on users.id = organization_members.user_id
  where organization_members.role = 'owner'
)
update users
set installation_admin = true, email_verified_at = now(),
  password_origin = case when password_hash is null then null else 'installation' end
where id in (select id from owners where is_first or not exists (select from owners where is_first))
-- statement
-- Until this version an administrator of an organization could choose the password of a new account.
update users set password_origin = 'legacy'
where password_hash is not null and not installation_admin
-- statement
-- Such a password opened every organization of the account. In an account with several organizations
-- it ends, with all sessions: only an administrator of the installation or the owner of the mailbox
-- sets a new one. GET /api/v2/access/users?password_origin=legacy lists the accounts.
with several as (
  select user_id from organization_members group by user_id having count(*) > 1
),
ended as (
  update users
  set password_hash = null, session_number = session_number + 1
  where password_origin = 'legacy' and id in (select user_id from several)
  returning id
)
update refresh_tokens set revoked_at = now()
where revoked_at is null and user_id in (select id from ended)

-- Membership by invitation, administrators of the installation, and the default project of a person.
-- session_number: access tokens of an earlier number are invalid.
-- password_origin: who chose the password. 'legacy': set before invitations existed, so possibly by
-- another person.
alter table users
  add column email_verified_at timestamptz(3),
  add column must_change_password boolean not null default false,
  add column password_origin text
    check (password_origin in ('self', 'administrator', 'installation', 'legacy')),
  add column session_number int not null default 0,
  add column installation_admin boolean not null default false,
  add column default_project_id uuid references projects on delete set null
-- statement
create index users_by_default_project on users (default_project_id)
  where default_project_id is not null
-- statement
create index users_by_password_origin on users (password_origin, id)
-- statement
-- project_id: set when an administrator of that project invited. token_hash: the SHA-256 of the link's
-- token. by_email: the link went only to the address, so its use proves the address.
create table invitations (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  project_id uuid references projects on delete cascade,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'admin', 'member')),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  by_email boolean not null,
  invited_by uuid references users on delete set null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  revoked_at timestamptz(3)
)
-- statement
-- One open invitation per person, for the organization and for each project.
create unique index invitations_open on invitations
  (organization_id, email, coalesce(project_id, '00000000-0000-0000-0000-000000000000'))
  where accepted_at is null and revoked_at is null
-- statement
create index invitations_by_organization on invitations (organization_id, id)
-- statement
create index invitations_by_project on invitations (project_id) where project_id is not null
-- statement
create index invitations_by_expiry on invitations (expires_at)
-- statement
create index invitations_by_inviter on invitations (invited_by) where invited_by is not null
-- statement
-- The project roles that an invitation grants.
create table invitation_projects (
  invitation_id uuid not null references invitations on delete cascade,
  project_id uuid not null references projects on delete cascade,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  primary key (invitation_id, project_id)
)
-- statement
create index invitation_projects_by_project on invitation_projects (project_id)
-- statement
-- The links of the last day, for the limits per organization and per address.
create table invitation_links (
  id uuid primary key,
  organization_id uuid not null,
  email text not null,
  by_email boolean not null,
  created_at timestamptz(3) not null
)
-- statement
create index invitation_links_by_organization on invitation_links (organization_id, created_at)
-- statement
create index invitation_links_by_email on invitation_links (email, created_at)
-- statement
create index invitation_links_by_age on invitation_links (created_at)

-- Projects and members that custom resources declare.
-- managed_by: the resource that declares the project. released_by: the last one that did; a resource
-- of its namespace may declare the project again.
alter table projects
  add column managed_by jsonb,
  add column released_by jsonb
-- statement
-- managed_by: the resource that declares the invited member; such an invitation has no inviter.
-- delivered_at: when its link was sent; null while no mail server is configured.
-- accepted_by: the person who accepted it.
-- released_at: when its resource was deleted with Retain; the role that it gave stays.
alter table invitations
  add column managed_by jsonb,
  add column delivered_at timestamptz(3),
  add column accepted_by uuid references users on delete set null,
  add column released_at timestamptz(3)
-- statement
-- namespace_id: derived from the project and the namespace of the resource that declares the member,
-- whose links have limits of their own; null for the invitation of a person.
alter table invitation_links add column namespace_id uuid
-- statement
drop index invitations_open
-- statement
-- One open invitation per person, for the organization and for each project. Those of resources do
-- not count, so that a resource does not end the invitation of a person or of another resource.
create unique index invitations_open on invitations
  (organization_id, email, coalesce(project_id, '00000000-0000-0000-0000-000000000000'))
  where accepted_at is null and revoked_at is null and managed_by is null
-- statement
create unique index invitations_by_owner on invitations
  (
    project_id, (managed_by->>'kind'), (managed_by->>'namespace'), (managed_by->>'name'),
    coalesce(managed_by->>'installation', '')
  ) where managed_by is not null and released_at is null
-- statement
create index invitations_by_accepter on invitations (accepted_by, project_id)
  where accepted_by is not null
-- statement
-- by_resource: the membership comes from resources only, and ends with the last of them.
alter table organization_members add column by_resource boolean not null default false
-- statement
alter table project_members add column by_resource boolean not null default false

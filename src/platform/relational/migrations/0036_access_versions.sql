-- version: counts the changes of a row, for ETag and If-Match. A trigger counts, so that no statement
-- can forget to. A statement that changes nothing does not count.
-- key_scopes: the most that keys of the organization or project may do; null sets no limit.
alter table organizations add column version integer not null default 1, add column key_scopes text[]
-- statement
alter table projects add column version integer not null default 1, add column key_scopes text[]
-- statement
alter table organization_members add column version integer not null default 1
-- statement
alter table project_members add column version integer not null default 1
-- statement
alter table service_accounts add column version integer not null default 1
-- statement
create function count_version() returns trigger language plpgsql as $$
begin
  if new is distinct from old then
    new.version := old.version + 1;
  end if;
  return new;
end $$
-- statement
create trigger organizations_version before update on organizations
  for each row execute function count_version()
-- statement
create trigger projects_version before update on projects
  for each row execute function count_version()
-- statement
create trigger organization_members_version before update on organization_members
  for each row execute function count_version()
-- statement
create trigger project_members_version before update on project_members
  for each row execute function count_version()
-- statement
create trigger service_accounts_version before update on service_accounts
  for each row execute function count_version()

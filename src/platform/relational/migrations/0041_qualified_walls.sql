-- pg_dump reads tables with an empty search path, in which a body of text does not find `projects`.
-- A body of the SQL standard is bound to the table when the function is created.
create or replace function looptrace_own_organization_id() returns uuid
  language sql stable parallel safe
  begin atomic
    select coalesce(looptrace_organization_id(),
      (select organization_id from projects where id = looptrace_project_id()));
  end

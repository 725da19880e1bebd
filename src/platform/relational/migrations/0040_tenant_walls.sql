-- The scope of a transaction, which the policies of row-level security read. The service sets it
-- when a transaction begins. Without it there are no rows. The policies, the role of the service and
-- its grants are set at the end of every run of the migrations (wall-tables.ts).

create function looptrace_is_installation() returns boolean
  language sql stable parallel safe as $$
  select coalesce(current_setting('looptrace.scope', true) = 'installation', false)
$$

-- statement

create function looptrace_project_id() returns uuid
  language sql stable parallel safe as $$
  select nullif(current_setting('looptrace.project_id', true), '')::uuid
$$

-- statement

create function looptrace_organization_id() returns uuid
  language sql stable parallel safe as $$
  select nullif(current_setting('looptrace.organization_id', true), '')::uuid
$$

-- statement

create function looptrace_own_organization_id() returns uuid
  language sql stable parallel safe as $$
  select coalesce(looptrace_organization_id(),
    (select organization_id from projects where id = looptrace_project_id()))
$$

-- statement

-- The tenant of earlier replies is not known, so that their calls could not read them.
delete from idempotency_keys

-- statement

-- The kept reply belongs to the tenant of the call, which is not in the statement of the store.
alter table idempotency_keys add column tenant_id uuid
  default coalesce(looptrace_project_id(), looptrace_organization_id())

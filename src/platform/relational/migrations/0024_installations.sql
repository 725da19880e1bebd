-- Operators of several installations may serve resources of the same name, each in its own cluster.
-- `managed_by` of an earlier version has no installation.
create unique index service_accounts_by_installation on service_accounts (
  project_id, (managed_by->>'kind'), (managed_by->>'namespace'), (managed_by->>'name'),
  coalesce(managed_by->>'installation', '')
) where managed_by is not null
-- statement
drop index service_accounts_by_owner
-- statement
-- The custom resource that released the account, with `deletionPolicy: Retain`. The same resource adopts it.
alter table service_accounts add column released_from jsonb

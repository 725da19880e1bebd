-- The custom resource that declares a policy, which nobody else may change; and when days of the
-- project are archived. `archive_since` is when that was last set: what was due before is not.
alter table retention_policies
  add column managed_by jsonb,
  add column archive jsonb,
  add column archive_since timestamptz(3)
-- statement
-- A resource tells its holds apart by name. Two may be on the same thing, of which each keeps it
-- held; of those that nobody manages there is one.
alter table legal_holds
  add column managed_by jsonb,
  add column managed_name text
-- statement
drop index legal_holds_active
-- statement
create unique index legal_holds_active on legal_holds (project_id, kind, value)
  where released_at is null and managed_by is null
-- statement
create unique index legal_holds_managed on legal_holds (
  project_id, (managed_by->>'kind'), (managed_by->>'namespace'), (managed_by->>'name'), managed_name
) where released_at is null and managed_by is not null

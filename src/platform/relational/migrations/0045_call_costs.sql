-- What a call costs, as in the columnar store. Earlier rows keep the empty defaults.
alter table hot_observations
  add column if not exists price_partial jsonb not null default '[]',
  add column if not exists usage_details jsonb not null default '{}',
  add column if not exists service_tier text collate "C" not null default '',
  add column if not exists cost_computed_usd numeric(18, 9),
  add column if not exists cost_reported_usd numeric(18, 9)
-- statement
-- Calls whose cost has parts without a rate of their own.
alter table tasks
  add column if not exists partially_priced_calls bigint not null default 0

-- The channels of incidents whose rules name none: ordered matches by severity and labels.
create table incident_default_routes (
  project_id uuid primary key references projects on delete cascade,
  spec jsonb not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
)

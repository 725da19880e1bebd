-- What a project lets be recorded. A project without a row has the default: everything, as it comes.
create table capture_policies (
  project_id uuid primary key references projects on delete cascade,
  content text not null check (content in ('full', 'metadata_only', 'off')),
  sample_rate double precision not null check (sample_rate >= 0 and sample_rate <= 1),
  masks jsonb not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by uuid
)

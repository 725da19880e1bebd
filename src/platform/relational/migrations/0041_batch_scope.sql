-- The projects of a batch that one transaction writes. Policies read it in the scope `projects`
-- only: a transaction can change to another scope and keeps the setting.

create function looptrace_project_ids() returns uuid[]
  language sql stable parallel safe as $$
  select case when current_setting('looptrace.scope', true) = 'projects'
    then nullif(current_setting('looptrace.project_ids', true), '')::uuid[] end
$$

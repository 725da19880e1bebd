-- The schema of PostgreSQL, by rooms. The pages of tables and the types of rows are generated from
-- this file: the comment above a table or column describes it, a check of listed texts is a union.
-- A `version` starts at 1 and grows with each change, unless it says otherwise; a `managed_by` is
-- the custom resource that declares the row.

-- Functions of policies, defaults and triggers.

-- The scope of a transaction, which the policies of row-level security read. The service sets it
-- when a transaction begins. Without it there are no rows. The policies, the role of the service
-- and its grants are set at the end of every run of the migrations (tenant-policies.ts).
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
-- The projects of a batch that one transaction writes. Policies read it in the scope `projects`
-- only: a transaction can change to another scope and keeps the setting.
create function looptrace_project_ids() returns uuid[]
  language sql stable parallel safe as $$
  select case when current_setting('looptrace.scope', true) = 'projects'
    then nullif(current_setting('looptrace.project_ids', true), '')::uuid[] end
$$
-- statement
-- The chain of the scope: that of its organization. The service gives the organization of a
-- project as `looptrace.chain_id`, if it knows it.
create function looptrace_chain_id() returns uuid
  language sql stable parallel safe as $$
  select coalesce(
    nullif(current_setting('looptrace.chain_id', true), ''),
    nullif(current_setting('looptrace.organization_id', true), '')
  )::uuid
$$
-- statement
-- Counts the changes of a row in `version`, for ETag and If-Match.
create function count_version() returns trigger language plpgsql as $$
begin
  if new is distinct from old then
    new.version := old.version + 1;
  end if;
  return new;
end $$
-- statement
-- Marks the task of a changed row, whose row in `rated_tasks` is then out of date.
create function mark_rated_task() returns trigger language plpgsql as $$
begin
  insert into rated_tasks_due (project_id, task_id)
  values (coalesce(new.project_id, old.project_id), coalesce(new.task_id, old.task_id))
  on conflict (project_id, task_id) do update set marks = rated_tasks_due.marks + 1;
  return null;
end $$
-- statement
-- The rules of a project changed: its evaluator looks at them at once.
create function mark_rules_due() returns trigger language plpgsql as $$
begin
  insert into evaluation_leases (project_id) values (new.project_id)
  on conflict (project_id) do update set changes = evaluation_leases.changes + 1,
    due_at = '-infinity', events_due_at = '-infinity';
  return null;
end $$
-- statement
create function mark_archive_due() returns trigger language plpgsql as $$
begin
  new.archive_due_at := case when (new.archive->>'enabled')::boolean then timestamptz '-infinity' end;
  return new;
end $$
-- statement
-- Marks a task with feedback whose detection or review changed.
create function mark_detected_task() returns trigger language plpgsql as $$
begin
  insert into rated_tasks_due (project_id, task_id)
  select project_id, task_id from feedback_tasks
  where project_id = new.project_id and task_ref = new.task_id order by task_id
  on conflict (project_id, task_id) do update set marks = rated_tasks_due.marks + 1;
  return null;
end $$
-- statement
-- Announces work to the processes that wait for it: the topic, and the ms until the work is due.
create function announce(topic text, due_at timestamptz) returns void language plpgsql as $$
begin
  due_at := greatest(due_at, now());
  -- Later work is found by the slow poll.
  if due_at <= now() + interval '10 minutes' then
    perform pg_notify('looptrace_due', topic || ' '
      || ceil(extract(epoch from due_at - now()) * 20) * 50);
  end if;
end $$
-- statement
-- Announces work that is due by the column that the trigger names, or now.
create function announce_due() returns trigger language plpgsql as $$
declare
  due_at timestamptz;
begin
  if tg_nargs > 1 then
    execute format('select ($1).%I', tg_argv[1]) into due_at using new;
  end if;
  perform announce(tg_argv[0], due_at);
  return null;
end $$
-- statement
-- The same for tables whose column is `due_at`. Each batch of ingest changes thousands of such rows,
-- and a statement that is composed for each costs more than their inserts.
create function announce_due_at() returns trigger language plpgsql as $$
begin
  if new.due_at <= now() then
    perform pg_notify('looptrace_due', tg_argv[0] || ' 0');
  else
    perform announce(tg_argv[0], new.due_at);
  end if;
  return null;
end $$
-- statement
-- The same for rows that a statement inserts, with one call for all that are due at one time: a call
-- for each of the thousand new tasks of a batch costs as much as a third of their insert.
create function announce_added() returns trigger language plpgsql as $$
begin
  perform announce(tg_argv[0], due_at)
  from (select distinct due_at from added where due_at is not null) as due;
  return null;
end $$
-- statement
-- # Tenant: organizations, people, projects, keys, and replies that are kept for repeated calls.

-- Organizations, the tenants of the installation. Instants of all tables have milliseconds, as in
-- JavaScript, so that a read value equals the stored one.
create table organizations (
  id uuid primary key,
  name text not null unique,
  created_at timestamptz(3) not null default now(),
  -- Counts the changes of a row, for ETag and If-Match. A trigger counts, so that no statement can
  -- forget to. A statement that changes nothing does not count.
  version integer not null default 1,
  -- The most that keys may do; null sets no limit.
  key_scopes text[]
);
create trigger organizations_version before update on organizations
  for each row execute function count_version()
-- statement
-- Projects of organizations. Keys, traces and tasks belong to a project.
create table projects (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  created_at timestamptz(3) not null default now(),
  archived_at timestamptz(3),
  -- Names that the environment of a new key can have; null allows any name.
  environments text[],
  managed_by jsonb,
  -- The last resource that declared it; a resource of its namespace may declare the project again.
  released_by jsonb,
  version integer not null default 1,
  -- The most that keys may do; null sets no limit.
  key_scopes text[],
  -- Rules for sessions and tasks that the project has switched off (decision 44).
  task_rules_off text[] not null default '{}',
  unique (organization_id, name)
);
create trigger projects_version before update on projects
  for each row execute function count_version()
-- statement
-- People who sign in.
create table users (
  id uuid primary key,
  email text not null unique check (email = lower(email)),
  -- Null for a user of an external issuer.
  password_hash text,
  display_name text not null,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  -- When the person proved to read the mails of the address.
  email_verified_at timestamptz(3),
  -- When an administrator removed the links to subjects of an issuer. Access tokens from before
  -- that time do not link their subject again.
  identities_removed_at timestamptz(3),
  must_change_password boolean not null default false,
  -- Who chose the password; null without one.
  password_origin text check (password_origin in ('self', 'administrator', 'installation')),
  -- Access tokens with an earlier number are invalid.
  session_number int not null default 0,
  installation_admin boolean not null default false,
  -- The user's default project, for calls that name no project.
  default_project_id uuid references projects on delete set null
);
create index users_by_default_project on users (default_project_id)
  where default_project_id is not null;
create index users_by_password_origin on users (password_origin, id)
-- statement
-- Members of organizations with their roles.
create table organization_members (
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz(3) not null default now(),
  -- Whether it comes from custom resources only, and ends with the last of them.
  by_resource boolean not null default false,
  -- Whether it comes from groups of the external issuer only, and ends with them.
  by_group boolean not null default false,
  version integer not null default 1,
  primary key (organization_id, user_id)
);
create index organization_members_by_user on organization_members (user_id);
create trigger organization_members_version before update on organization_members
  for each row execute function count_version()
-- statement
-- Members of projects with their roles. Owners and admins of the organization need none.
create table project_members (
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  created_at timestamptz(3) not null default now(),
  -- Whether it comes from custom resources only, and ends with the last of them.
  by_resource boolean not null default false,
  -- Whether it comes from groups of the external issuer only, and ends with them.
  by_group boolean not null default false,
  version integer not null default 1,
  primary key (project_id, user_id)
);
create index project_members_by_user on project_members (user_id);
create trigger project_members_version before update on project_members
  for each row execute function count_version()
-- statement
-- Invitations to organizations and projects, with the SHA-256 of the token of the link.
create table invitations (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  -- Set when an admin of this project invited.
  project_id uuid references projects on delete cascade,
  -- Lower case (enforced by the table).
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'admin', 'member')),
  -- SHA-256 of the link's token, 32 bytes. The token itself is not stored.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- Whether the link was sent only by mail, so that its use verifies the address.
  by_email boolean not null,
  invited_by uuid references users on delete set null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  revoked_at timestamptz(3),
  -- The custom resource that declares the member; such an invitation has no inviter.
  managed_by jsonb,
  -- When the link of a declared member was sent; null while no mail server is configured.
  delivered_at timestamptz(3),
  -- The person who accepted the invitation of a declared member.
  accepted_by uuid references users on delete set null,
  -- When its resource was deleted with `Retain`, which keeps the role.
  released_at timestamptz(3)
);
create index invitations_by_organization on invitations (organization_id, id);
create index invitations_by_project on invitations (project_id) where project_id is not null;
create index invitations_by_expiry on invitations (expires_at);
create index invitations_by_inviter on invitations (invited_by) where invited_by is not null;
-- One open invitation per person, for the organization and for each project. Those of resources do
-- not count, so that a resource does not end the invitation of a person or of another resource.
create unique index invitations_open on invitations
  (organization_id, email, coalesce(project_id, '00000000-0000-0000-0000-000000000000'))
  where accepted_at is null and revoked_at is null and managed_by is null;
create unique index invitations_by_owner on invitations
  (
    project_id, (managed_by->>'kind'), (managed_by->>'namespace'), (managed_by->>'name'),
    coalesce(managed_by->>'installation', '')
  ) where managed_by is not null and released_at is null;
create index invitations_by_accepter on invitations (accepted_by, project_id)
  where accepted_by is not null
-- statement
-- Project roles that an invitation grants.
create table invitation_projects (
  invitation_id uuid not null references invitations on delete cascade,
  project_id uuid not null references projects on delete cascade,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  primary key (invitation_id, project_id)
);
create index invitation_projects_by_project on invitation_projects (project_id)
-- statement
-- Links of invitations that were sent within the last day, for the limits per organization,
-- namespace and address.
create table invitation_links (
  id uuid primary key,
  organization_id uuid not null,
  -- Derived from the project and the namespace of the resource; null for a person's invitation.
  namespace_id uuid,
  email text not null,
  by_email boolean not null,
  created_at timestamptz(3) not null
);
create index invitation_links_by_organization on invitation_links (organization_id, created_at);
create index invitation_links_by_email on invitation_links (email, created_at);
create index invitation_links_by_age on invitation_links (created_at)
-- statement
-- Service accounts of projects: identities for programs, with scopes and without a role.
create table service_accounts (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  scopes text[] not null default '{}',
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  -- The creating user; null when the installation created it.
  created_by uuid references users on delete set null,
  -- The custom resource that manages it; only that resource may change it.
  managed_by jsonb,
  -- The custom resource that released it with `deletionPolicy: Retain`; the same resource of the
  -- same installation adopts it.
  released_from jsonb,
  -- Set by an emergency revocation of one of its keys, with the user and the reason. No key is
  -- minted until the account is resumed.
  suspended_at timestamptz(3),
  suspended_by uuid,
  suspended_reason text,
  version integer not null default 1,
  unique (project_id, name)
);
-- Operators of several installations may serve resources of the same name, each in its own cluster.
create unique index service_accounts_by_installation on service_accounts (
  project_id, (managed_by->>'kind'), (managed_by->>'namespace'), (managed_by->>'name'),
  coalesce(managed_by->>'installation', '')
) where managed_by is not null;
create trigger service_accounts_version before update on service_accounts
  for each row execute function count_version()
-- statement
-- Keys of projects and service accounts. A key is looked up by its prefix and compared by its
-- hash, the SHA-256 of the whole key.
create table api_keys (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  service_account_id uuid references service_accounts on delete cascade,
  name text not null,
  -- The public part, for look-ups.
  prefix text not null unique,
  -- SHA-256 of the whole key, 32 bytes. The key itself is not stored.
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  scopes text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  -- Environment of records that are sent with the key and name none.
  environment text,
  -- Origins of the pages that may use the key. Set for browser keys only.
  origins text[],
  -- Calls per minute of each end user. Set for browser keys only.
  user_rate_per_minute int check ((origins is null) = (user_rate_per_minute is null))
);
create index api_keys_by_project on api_keys (project_id, created_at, id);
create index api_keys_by_service_account on api_keys (service_account_id)
  where service_account_id is not null
-- statement
-- Keys of the operators of clusters. Each is valid in every project, on the routes that accept an
-- operator. A key is looked up by its prefix and compared by its hash, the SHA-256 of the whole
-- key.
create table operator_keys (
  id uuid primary key,
  -- The public part, for look-ups.
  prefix text not null unique,
  -- SHA-256 of the whole key, 32 bytes. The key itself is not stored.
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
)
-- statement
-- Grants of clusters: which namespaces may name a project, as operators last reported them. They
-- are shown to the administrators of the project and decide nothing: the operators decide by the
-- ProjectGrants of their clusters.
create table project_grants (
  -- Derived from the installation and the name.
  id uuid primary key,
  installation_id uuid not null,
  project_id uuid not null references projects on delete cascade,
  -- Uid of the namespace kube-system of the cluster.
  cluster text not null,
  name text not null,
  -- The selected namespaces, the first 50 by name.
  namespaces text[] not null,
  namespace_count integer not null,
  -- The label selector in the form of kubectl; null for a grant that names its namespaces.
  selector text,
  kinds text[] not null,
  -- Maximum scopes of service accounts.
  scopes text[] not null,
  -- Maximum roles of members.
  roles text[] not null,
  -- Maximum keys that the resources of one namespace declare together.
  max_keys integer not null,
  -- Grace from the end of the grant to the revocation, as in the ProjectGrant.
  revoke_after text not null,
  reported_at timestamptz(3) not null
);
create index project_grants_by_project on project_grants (project_id, id);
create index project_grants_by_installation on project_grants (installation_id);
create index project_grants_by_age on project_grants (reported_at)
-- statement
-- Emergency revocations of keys, and resumptions of service accounts that they suspended. Without
-- foreign keys, so that the record outlives its objects.
create table access_emergencies (
  id uuid primary key,
  project_id uuid not null,
  service_account_id uuid,
  api_key_id uuid,
  action text not null check (action in ('revoke', 'resume')),
  -- A user's id, or `Kind/namespace/name` of the resource for which an operator called.
  actor text not null,
  reason text not null,
  occurred_at timestamptz(3) not null
);
create index access_emergencies_by_project on access_emergencies (project_id, id)
-- statement
-- Replies to requests with an idempotency key, until they expire.
create table idempotency_keys (
  scope_hash bytea primary key,
  request_hash bytea not null,
  -- Null while the call runs.
  status int,
  reply jsonb,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  -- The tenant of the call, which is not in the statement of the store.
  tenant_id uuid default coalesce(looptrace_project_id(), looptrace_organization_id())
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at)
-- statement
-- # SignIn: keys of tokens, sessions, identities at issuers, failed attempts.

-- Keys that sign access tokens; the private part is encrypted.
create table signing_keys (
  -- The `kid` of tokens.
  id text primary key,
  public_jwk jsonb not null,
  private_key_encrypted bytea not null,
  created_at timestamptz(3) not null default now(),
  activates_at timestamptz(3) not null,
  retires_at timestamptz(3)
)
-- statement
-- Refresh tokens, by their hash. All tokens that were exchanged for one another share a family.
create table refresh_tokens (
  id uuid primary key,
  family_id uuid not null,
  user_id uuid not null references users on delete cascade,
  token_hash bytea not null unique,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index refresh_tokens_by_family on refresh_tokens (family_id);
create index refresh_tokens_by_user on refresh_tokens (user_id);
create index refresh_tokens_by_expiry on refresh_tokens (expires_at)
-- statement
-- Persons at external issuers. Some issuers give a person another subject for each client.
create table user_identities (
  issuer text not null,
  -- The audience of the first token.
  client_id text not null,
  subject text not null check (subject <> '' and length(subject) <= 255),
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null,
  primary key (issuer, client_id, subject),
  unique (user_id, issuer, client_id)
);
-- A subject is one person in all clients of its issuer, unless its subjects are pairwise.
create index user_identities_by_subject on user_identities (issuer, subject)
-- statement
-- Sessions of browsers. A session ends when the session number of the user changes.
create table browser_sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  session_number integer not null,
  -- Signed in at the external issuer, so that the password does not matter.
  by_issuer boolean not null,
  -- SHA-256 of the cookie, 32 bytes. The cookie itself is not stored.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- SHA-256 of the cookie before the last renewal, which is accepted for a short time.
  previous_hash bytea check (octet_length(previous_hash) = 32),
  renewed_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  -- Time of the last use, updated within two minutes.
  used_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
create unique index browser_sessions_by_previous on browser_sessions (previous_hash)
  where previous_hash is not null;
create index browser_sessions_by_user on browser_sessions (user_id) where ended_at is null;
create index browser_sessions_by_expiry on browser_sessions (expires_at)
-- statement
-- Sign-ins at the external issuer that came back, for ten minutes, so that each comes back once.
create table used_sign_ins (
  state_hash bytea primary key check (octet_length(state_hash) = 32),
  expires_at timestamptz(3) not null
);
create index used_sign_ins_by_expiry on used_sign_ins (expires_at)
-- statement
-- Failed sign-ins by account and network, by network, and by account, as hashes. A row is deleted
-- once its count has leaked to zero.
create table sign_in_counts (
  -- SHA-256 of what is counted.
  key_hash bytea primary key check (octet_length(key_hash) = 32),
  account_hash bytea check (octet_length(account_hash) = 32),
  failed_at timestamptz(3) not null,
  clear_at timestamptz(3) not null
);
create index sign_in_counts_by_account on sign_in_counts (account_hash)
  where account_hash is not null;
create index sign_in_counts_by_expiry on sign_in_counts (clear_at)
-- statement
-- Networks from which each account signed in, as hashes. The attempts of other networks do not
-- delay them.
create table sign_in_networks (
  account_hash bytea not null check (octet_length(account_hash) = 32),
  network_hash bytea not null check (octet_length(network_hash) = 32),
  used_at timestamptz(3) not null,
  primary key (account_hash, network_hash)
);
create index sign_in_networks_by_use on sign_in_networks (used_at)
-- statement
-- Links that set a new password, by the hash of their token.
create table password_resets (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id uuid not null references users on delete cascade,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- Whether the link was sent to the person's address, so that its use confirms the address.
  is_mailed boolean not null,
  -- The administrator who made the link.
  created_by uuid references users on delete set null
);
create index password_resets_by_user on password_resets (user_id, created_at);
create index password_resets_by_age on password_resets (created_at)
-- statement
-- # Job: work that outlasts a request.

-- Job runs: work that outlasts a request and survives its process. The worker of a run holds its
-- lease; after the lease ends another worker may continue from `progress`. Without a foreign key
-- to projects, so that the record of a run outlives its project.
create table job_runs (
  id uuid primary key,
  project_id uuid not null,
  kind text not null,
  state text not null default 'queued'
    check (state in ('queued', 'running', 'succeeded', 'failed')),
  params jsonb not null,
  -- Last checkpoint of the handler. Another worker resumes from here.
  progress jsonb,
  result jsonb,
  error text,
  -- Number of starts.
  attempt int not null default 0,
  -- Of a project's jobs with the same key, one at a time is queued or running.
  exclusive_key text,
  -- Of a project's jobs with the same key there is one: a day's run is enqueued once.
  once_key text,
  -- Earliest start.
  due_at timestamptz(3) not null default now(),
  -- Id of the claim, not of the process: each claim has a new one.
  lease_owner uuid,
  lease_until timestamptz(3),
  requested_by text not null,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  ended_at timestamptz(3)
);
create unique index job_runs_exclusive on job_runs (project_id, exclusive_key)
  where exclusive_key is not null and state in ('queued', 'running');
create unique index job_runs_once on job_runs (project_id, once_key) where once_key is not null;
-- Claims choose between this index and `job_runs_waiting` by the condition `kind <> ''`, not by
-- statistics, which are stale when a day's runs are queued.
create index job_runs_due on job_runs (kind, due_at)
  where state in ('queued', 'running') and kind <> '';
create index job_runs_running on job_runs (project_id) where state = 'running';
create index job_runs_by_project on job_runs (project_id, kind, id);
create index job_runs_by_end on job_runs (ended_at) where ended_at is not null;
-- Workers claim jobs of a kind, in turn from all projects.
create index job_runs_waiting on job_runs (kind, project_id, due_at)
  where state in ('queued', 'running')
-- statement
create trigger job_runs_announced after insert or update of due_at on job_runs
  for each row when (new.state = 'queued')
  execute function announce_due_at('jobs')
-- statement
-- # Ingest: batches of the ingest API, and what edges left behind.

-- Batches of `POST /api/v2/observability/ingest`, one row per idempotency key of a project.
-- Without a foreign key to projects: rows are kept for a week and then deleted.
create table ingest_requests (
  ingest_request_id uuid primary key,
  project_id uuid not null,
  idempotency_key text not null,
  -- SHA-256 of the batch as a JSON value, 32 bytes.
  body_hash bytea not null check (octet_length(body_hash) = 32),
  schema_version text not null,
  first_seen_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  replayed_hits bigint not null default 0,
  -- The call that is publishing the batch; null when none is.
  claim_id uuid,
  claimed_at timestamptz(3),
  -- Number of messages; null until all are durable in the queue.
  messages_total int,
  -- Records of the batch, and rejected records among them.
  items bigint not null default 0,
  rejected bigint not null default 0,
  -- `json` and not `jsonb`: a fault may quote U+0000, which `jsonb` cannot hold.
  errors json not null default '[]',
  errors_left_out bigint not null default 0,
  error_reason text,
  processing_at timestamptz(3),
  unique (project_id, idempotency_key)
);
create index ingest_requests_by_first_seen on ingest_requests (first_seen_at)
-- statement
-- The outcome of each message of a batch. A message that settles again replaces its row, so
-- redeliveries are counted once. The outcome of a request is summed when it is read.
create table ingest_request_messages (
  ingest_request_id uuid not null references ingest_requests on delete cascade,
  message_id text not null,
  settled_at timestamptz(3) not null,
  -- True for a dead letter, which may still succeed after a replay.
  failed boolean not null,
  attempts int not null,
  stored bigint not null,
  rejected bigint not null,
  lost bigint not null,
  traces bigint not null,
  observations bigint not null,
  events bigint not null,
  links bigint not null,
  correlations bigint not null,
  error_reason text,
  primary key (ingest_request_id, message_id)
)
-- statement
-- Ledger messages of edges that ended while the queue was unavailable. A worker publishes them, so
-- that records which the disk of an edge took along are counted as lost.
create table left_ledger_messages (
  id text primary key,
  project_id uuid not null,
  data bytea not null,
  left_at timestamptz not null default now()
)
-- statement
-- # Capture: what is recorded.

-- The capture policy of each project. A project without a row records everything unchanged.
create table capture_policies (
  project_id uuid primary key references projects on delete cascade,
  content text not null check (content in ('full', 'metadata_only', 'off')),
  -- Share of traces that are recorded, 0 to 1.
  sample_rate double precision not null check (sample_rate >= 0 and sample_rate <= 1),
  masks jsonb not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text
)
-- statement
-- # Task: tasks and conversations with their roll-ups, and what is needed to keep them.

-- Tasks with their roll-ups. A roll-up is recomputed from the observations and never incremented,
-- so a redelivered batch changes nothing. Without a foreign key to projects: the worker writes
-- these rows continuously, and each write would lock its project; deleting a project deletes them
-- explicitly.
create table tasks (
  project_id uuid not null,
  -- The client's own string, ≤ 256 characters.
  task_id text not null,
  name text not null,
  user_id text,
  conversation_id uuid,
  -- True when no header named the task and its id is the trace id.
  implicit boolean not null,
  state text not null default 'running' check (state in ('running', 'completed', 'failed')),
  ended_at timestamptz(3),
  ended_by text,
  end_note text,
  created_at timestamptz(3) not null default now(),
  -- Start of the first call.
  started_at timestamptz(3) not null,
  last_activity_at timestamptz(3) not null,
  -- True once a call arrived after the end of the task.
  late_activity boolean not null default false,
  calls bigint not null default 0,
  -- Rows of calls that another row counts.
  merged_calls bigint not null default 0,
  errors bigint not null default 0,
  cancelled bigint not null default 0,
  input_uncached_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_visible_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0,
  total_tokens bigint not null default 0,
  -- Calls with token counts estimated by Looptrace, because the provider reported none.
  estimated_calls bigint not null default 0,
  cost_usd numeric(20, 9) not null default 0,
  -- Calls without a known price, which `cost_usd` does not include.
  unpriced_calls bigint not null default 0,
  -- Calls in `cost_usd` with parts that have no rate of their own.
  partially_priced_calls bigint not null default 0,
  duration_ms bigint not null default 0,
  models text[] not null default '{}',
  providers text[] not null default '{}',
  environment text,
  release text,
  -- Kubernetes cluster of its latest span that names one: `k8s.cluster.name`.
  cluster_name text,
  updated_at timestamptz(3) not null default now(),
  -- Start of the last call. This column and `counted` are written with every roll-up (decision
  -- 18): no index may name them.
  last_started_at timestamptz(3),
  -- Fingerprints of the counted observations; null when unknown or too many, and then the roll-up
  -- is recomputed.
  counted integer[],
  -- Worst severity of open and recovered findings: 0 none, 1 info … 5 critical.
  worst_severity smallint not null default 0,
  wasted_tokens bigint not null default 0,
  wasted_cost_usd numeric(20, 9) not null default 0,
  -- Verdict of detection on the whole task; null before the first analysis.
  verdict jsonb,
  -- Trust of the newest verified answer, 0–1; null before, and for an answer without claims.
  trust_score double precision,
  -- Share of the claims of that answer that a verifier decided.
  trust_coverage double precision,
  -- State of the newest verification of the task; null without any.
  verification_state text,
  verified_at timestamptz(3),
  primary key (project_id, task_id)
);
create index tasks_by_last_activity on tasks (project_id, last_activity_at, task_id);
create index tasks_by_start on tasks (project_id, started_at, task_id);
create index tasks_by_cost on tasks (project_id, cost_usd, task_id);
create index tasks_by_tokens on tasks (project_id, total_tokens, task_id);
create index tasks_by_conversation on tasks (project_id, conversation_id, started_at, task_id)
  where conversation_id is not null;
create index tasks_by_user on tasks (project_id, user_id, last_activity_at, task_id)
  where user_id is not null;
create index tasks_by_state on tasks (project_id, state, last_activity_at, task_id);
create index tasks_by_severity on tasks (project_id, worst_severity, task_id)
  where worst_severity > 0;
create index tasks_trust on tasks (project_id, trust_score, task_id) where trust_score is not null
-- statement
-- Events of tasks: created, completed or failed, late calls.
create table task_events (
  id uuid primary key,
  project_id uuid not null,
  task_id text not null,
  kind text not null check (kind in ('created', 'completed', 'failed', 'late_activity')),
  at timestamptz(3) not null,
  actor_kind text not null,
  actor_id text,
  note text
);
create index task_events_by_task on task_events (project_id, task_id, at)
-- statement
-- Conversations with their roll-ups; see `tasks`.
create table conversations (
  project_id uuid not null,
  conversation_id uuid not null,
  -- The client's X-Conversation-ID when it is not a UUID.
  external_id text,
  user_id text,
  started_at timestamptz(3) not null,
  last_activity_at timestamptz(3) not null,
  tasks bigint not null default 0,
  traces bigint not null default 0,
  calls bigint not null default 0,
  errors bigint not null default 0,
  total_tokens bigint not null default 0,
  cost_usd numeric(20, 9) not null default 0,
  models text[] not null default '{}',
  updated_at timestamptz(3) not null default now(),
  primary key (project_id, conversation_id)
);
create index conversations_by_last_activity
  on conversations (project_id, last_activity_at, conversation_id);
create index conversations_by_start on conversations (project_id, started_at, conversation_id);
create index conversations_by_cost on conversations (project_id, cost_usd, conversation_id);
create index conversations_by_user
  on conversations (project_id, user_id, last_activity_at, conversation_id)
  where user_id is not null
-- statement
-- Tasks and conversations with so large a number of observations that their roll-ups are refreshed
-- asynchronously (decision 19). A batch marks those that it touches as due.
create table large_rollups (
  project_id uuid not null,
  kind text not null check (kind in ('task', 'conversation')),
  id text not null,
  touches bigint not null default 0,
  due_at timestamptz(3),
  rests_until timestamptz(3),
  claim uuid,
  claimed_until timestamptz(3),
  primary key (project_id, kind, id)
);
create index large_rollups_due on large_rollups (due_at) where due_at is not null
-- statement
create trigger large_rollups_announced after insert or update of due_at on large_rollups
  for each row when (new.due_at is not null)
  execute function announce_due_at('roll_ups')
-- statement
-- Traces with rows of the last one to two days, so that an ancestor that arrives late finds its
-- descendants (decision 40). Every batch updates its rows, so pages have room for the new
-- versions.
create table recent_traces (
  project_id uuid not null,
  trace_id uuid not null,
  -- Starts of its rows, in nanoseconds since 1970.
  first_start bigint not null,
  last_start bigint not null,
  -- Fields of ownership that a row has, and that a row lacks while one of its ancestors is not
  -- stored, as bits.
  gives smallint not null,
  wants smallint not null,
  -- Workers that change its rows, or that ended before the roll-ups that follow.
  moving smallint not null default 0,
  seen_on date not null default current_date,
  -- The task of the calls, if the trace is not a task of its own.
  joined_task_id text,
  primary key (project_id, trace_id)
) with (fillfactor = 80);
create index recent_traces_by_day on recent_traces (seen_on)
-- statement
-- Calls of the last one to two days by the provider's name of their answer, so that a span finds
-- the record of the proxy in another trace (decision 43).
create table recent_responses (
  project_id uuid not null,
  response_id text collate "C" not null,
  trace_id uuid not null,
  observation_id text collate "C" not null,
  is_record boolean not null,
  -- Nanoseconds since 1970.
  start_time bigint not null,
  end_time bigint not null,
  seen_on date not null default current_date,
  -- A background response is started by one exchange and retrieved by another, which has its
  -- usage.
  is_retrieved boolean not null default false,
  has_usage boolean not null default true,
  -- A server that names all answers alike has many calls of one name, but seldom on both sides.
  primary key (project_id, response_id, is_record, trace_id, observation_id)
);
create index recent_responses_by_day on recent_responses (seen_on);
-- The calls of a trace are looked up for each batch.
create index recent_responses_by_trace on recent_responses (project_id, trace_id)
-- statement
-- Calls of the last one to two days that give a name, or want the name of a call that they
-- continue (decision 44).
create table recent_links (
  project_id uuid not null,
  name text collate "C" not null,
  is_giver boolean not null,
  trace_id uuid not null,
  observation_id text collate "C" not null,
  -- The task of the call before it is linked.
  task_id text not null,
  -- Nanoseconds since 1970.
  start_time bigint not null,
  seen_on date not null default current_date,
  primary key (project_id, name, is_giver, trace_id, observation_id)
);
create index recent_links_by_trace on recent_links (project_id, trace_id);
create index recent_links_by_day on recent_links (seen_on)
-- statement
-- # Detection: findings, and the state of their detection.

-- The state of detection for each task, and when it is due again: a batch marks the tasks that it
-- touches, and workers claim due ones. `epoch` changes when content of the task is deleted, so
-- that no result of that content is written; `revision` rises with each written result. Foreign
-- keys delete derived content with its task, also content that is written meanwhile.
create table task_detections (
  project_id uuid not null,
  task_id text not null,
  -- Number of times that the task was marked as due.
  touches bigint not null default 0,
  due_at timestamptz(3),
  rests_until timestamptz(3),
  claim uuid,
  claimed_until timestamptz(3),
  -- Failed attempts since the last success.
  failures int not null default 0,
  -- Changes whenever content of the task is removed.
  epoch uuid not null default gen_random_uuid(),
  -- Number of written results.
  revision bigint not null default 0,
  detected_at timestamptz(3),
  -- Version of the settings of the result; 0 for the defaults.
  settings_version bigint,
  -- Detectors and their versions of the result.
  detectors text,
  not_checked jsonb not null default '[]',
  -- Context memory of the task, for later tasks of its conversation.
  ledger jsonb,
  -- Users of the calls of the task, also those that `tasks.user_id` does not name.
  user_ids text[] not null default '{}',
  -- Names of the tools that the task called, at most 100.
  tools text[] not null default '{}',
  -- When to ask the judge about the task. The judge's columns are cleared when content of the task
  -- is deleted.
  judge_due_at timestamptz(3),
  -- End of the claim of the worker that asks the judge.
  judge_claimed_until timestamptz(3),
  -- Digests of the answers that were judged last, and failed attempts since.
  judged jsonb,
  primary key (project_id, task_id),
  foreign key (project_id, task_id) references tasks on delete cascade
);
create index task_detections_due on task_detections (due_at) where due_at is not null;
create index task_detections_judge_due on task_detections (judge_due_at)
  where judge_due_at is not null;
-- Workers take due tasks from all projects in turn, and look for the longest due of each.
create index task_detections_due_by_project on task_detections (project_id, due_at)
  where due_at is not null;
create trigger detection_changed after update on task_detections
  for each row when (old.revision <> new.revision) execute function mark_detected_task()
-- statement
create trigger task_detections_added after insert on task_detections
  referencing new table as added for each statement
  execute function announce_added('detection')
-- statement
create trigger task_detections_announced after update of due_at on task_detections
  for each row when (new.due_at is not null)
  execute function announce_due_at('detection')
-- statement
-- Findings of detection. A finding is deleted with its task.
create table findings (
  -- UUIDv5 of project, task, type and anchor.
  finding_id uuid primary key,
  project_id uuid not null,
  task_id text not null,
  kind text not null check (kind in ('loop', 'failure', 'context', 'claim')),
  type text not null,
  detector text not null,
  detector_version int not null,
  severity text not null check (severity in ('info', 'low', 'medium', 'high', 'critical')),
  state text not null check (state in ('open', 'recovered', 'withdrawn')),
  summary text not null,
  start_step int,
  end_step int,
  period int,
  repeats int,
  places jsonb not null,
  -- Distinct trace ids of `places`.
  trace_ids uuid[] not null,
  wasted_tokens bigint not null,
  wasted_cost_usd numeric(20, 9) not null,
  recovered boolean not null,
  confidence double precision not null,
  evidence jsonb not null,
  -- The model that judged it; null when none was asked.
  judge text,
  -- Start of its first observation.
  started_at timestamptz(3) not null,
  first_detected_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  foreign key (project_id, task_id) references tasks on delete cascade
);
create index findings_by_task on findings (project_id, task_id);
create index findings_by_start on findings (project_id, started_at, finding_id)
-- statement
-- Thresholds of detection that a project has set. A project without a row has the defaults.
create table detection_settings (
  project_id uuid primary key references projects on delete cascade,
  detectors jsonb not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
)
-- statement
-- Each project's bookings for the judge on its last day (UTC). A booking is one statement that
-- refuses above the limit, so the limit holds for all processes together.
create table judge_spend (
  project_id uuid primary key references projects on delete cascade,
  -- `YYYY-MM-DD`, UTC.
  day date not null,
  -- Billionths of a US dollar.
  nano_dollars bigint not null
)
-- statement
-- # Hot: the latest rows of projects that also write to PostgreSQL.

-- Where the data of a project is written and read. A project without a row uses ClickHouse.
create table store_routing (
  project_id uuid primary key references projects on delete cascade,
  write_stores text[] not null,
  hot_window_hours int not null,
  routes jsonb not null,
  fallback boolean not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text
)
-- statement
-- The part of a project in PostgreSQL: rows that start at or after `covered_from`, except for the
-- days in `hot_gaps`.
create table hot_coverage (
  project_id uuid primary key,
  -- Nanoseconds since 1970; null until the first rows are filled in.
  covered_from bigint,
  -- The job that fills the missing days.
  backfill_job uuid
)
-- statement
-- Days with rows that were written to ClickHouse and not to PostgreSQL.
create table hot_gaps (
  project_id uuid not null,
  -- Days since 1970.
  day int not null,
  reason text not null,
  marked_at timestamptz(3) not null default clock_timestamp(),
  primary key (project_id, day)
)
-- statement
-- The latest observations of projects that also write to PostgreSQL, with the column names of
-- ClickHouse. Times are nanoseconds since 1970, because timestamptz has only microseconds. The
-- writer creates a partition for each UTC day; a job drops old ones. Text sorts by its bytes, as
-- in ClickHouse.
create table hot_observations (
  project_id uuid not null,
  trace_id uuid not null,
  observation_id text collate "C" not null,
  parent_observation_id text collate "C" not null,
  type text collate "C" not null,
  start_time bigint not null,
  end_time bigint not null,
  status text collate "C" not null,
  source text collate "C" not null,
  task_id text collate "C" not null,
  task_name text collate "C" not null,
  task_implicit boolean not null,
  conversation_id text collate "C" not null,
  conversation_external_id text collate "C" not null,
  user_id text collate "C" not null,
  environment text collate "C" not null,
  release text collate "C" not null,
  provider text collate "C" not null,
  model_requested text collate "C" not null,
  model text collate "C" not null,
  input_uncached_tokens bigint,
  cache_read_tokens bigint,
  cache_write_tokens bigint,
  output_visible_tokens bigint,
  reasoning_tokens bigint,
  usage_source text collate "C" not null,
  cost_usd numeric(18, 9),
  name text collate "C" not null,
  status_code bigint not null,
  outcome text collate "C" not null,
  error_type text collate "C" not null,
  error_message text collate "C" not null,
  contract_version text collate "C" not null,
  endpoint text collate "C" not null,
  service_name text collate "C" not null,
  agent_name text collate "C" not null,
  span_kind text collate "C" not null,
  level text collate "C" not null,
  content_state text collate "C" not null,
  streamed boolean not null,
  finish_reason text collate "C" not null,
  usage_semantics text collate "C" not null,
  price_version text collate "C" not null,
  time_to_first_token_ms double precision,
  request_bytes bigint not null,
  response_bytes bigint not null,
  mapped_from text collate "C" not null,
  input text collate "C" not null,
  output text collate "C" not null,
  tool_calls jsonb not null,
  tool_results jsonb not null,
  attributes jsonb not null,
  metadata jsonb not null,
  message_id text collate "C" not null,
  ingested_at timestamptz(3) not null,
  price_partial jsonb not null default '[]',
  usage_details jsonb not null default '{}',
  service_tier text collate "C" not null default '',
  cost_computed_usd numeric(18, 9),
  cost_reported_usd numeric(18, 9),
  response_id text collate "C" not null default '',
  counted_with text collate "C" not null default '',
  primary key (project_id, start_time, trace_id, observation_id)
) partition by range (start_time);
create index hot_observations_by_trace on hot_observations (project_id, trace_id);
create index hot_observations_by_task on hot_observations (project_id, task_id, start_time);
create index hot_observations_by_conversation
  on hot_observations (project_id, conversation_id, start_time)
-- statement
-- The latest records of whole traces, beside `hot_observations`.
create table hot_traces (
  project_id uuid not null,
  trace_id uuid not null,
  time bigint not null,
  name text collate "C" not null,
  source text collate "C" not null,
  task_id text collate "C" not null,
  task_name text collate "C" not null,
  conversation_id text collate "C" not null,
  conversation_external_id text collate "C" not null,
  user_id text collate "C" not null,
  environment text collate "C" not null,
  release text collate "C" not null,
  input text collate "C" not null,
  output text collate "C" not null,
  metadata jsonb not null,
  message_id text collate "C" not null,
  ingested_at timestamptz(3) not null,
  primary key (project_id, time, trace_id)
) partition by range (time);
create index hot_traces_by_trace on hot_traces (project_id, trace_id)
-- statement
-- # Route: how reads went.

-- Outcomes of reads by minute, query class and store, kept for a week. The histogram counts
-- responses by duration; its bounds are in `store-routing/durations.ts`. Processes add their
-- counts.
create table route_stats (
  project_id uuid not null,
  minute timestamptz(3) not null,
  query_class text not null,
  store text not null,
  requests bigint not null,
  errors bigint not null,
  fallbacks bigint not null,
  rows_read bigint not null,
  -- Requests whose number of read rows is known.
  rows_read_of bigint not null,
  histogram int[] not null,
  primary key (project_id, minute, query_class, store)
);
create index route_stats_by_minute on route_stats (minute)
-- statement
-- Queries with their values, which a benchmark repeats. They are kept for a week.
create table recorded_queries (
  project_id uuid not null,
  hash text not null,
  kind text not null check (kind in ('query', 'aggregate')),
  query_class text not null,
  body jsonb not null,
  times bigint not null,
  slowest_ms double precision not null,
  last_at timestamptz(3) not null,
  primary key (project_id, hash)
);
create index recorded_queries_by_last on recorded_queries (last_at)
-- statement
-- # SavedQuery: queries that people keep.

-- Saved queries. `body` is a template with placeholders `{"$param": name}`. A private query is
-- visible to its owner only.
create table saved_queries (
  id uuid primary key,
  project_id uuid not null,
  -- `user:<id>`, `key:<id>` or `service_account:<id>`.
  owner text not null,
  name text not null,
  description text not null,
  visibility text not null check (visibility in ('private', 'project')),
  kind text not null check (kind in ('query', 'aggregate')),
  -- A template with placeholders; see the saved-queries capability.
  body jsonb not null,
  parameters jsonb not null,
  version int not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
);
create unique index saved_queries_by_name on saved_queries (project_id, name)
  where visibility = 'project';
create unique index saved_queries_by_owner on saved_queries (project_id, owner, name)
  where visibility = 'private';
create index saved_queries_by_project on saved_queries (project_id, id)
-- statement
-- # Retention: how long data is kept, and what was deleted.

-- How long each kind of data is kept. A project without a row keeps everything forever.
create table retention_policies (
  project_id uuid primary key references projects on delete cascade,
  days jsonb not null,
  -- Overrides of `days` per environment.
  environments jsonb not null,
  archive_before_delete boolean not null,
  archive jsonb,
  -- When `archive` was last set. Earlier runs of the schedule are not due.
  archive_since timestamptz(3),
  -- Next daily run; null until a worker sets it.
  next_run_at timestamptz(3),
  -- When a worker looks at the schedule of `archive`; a trigger sets it. Null without an enabled one.
  archive_due_at timestamptz(3),
  -- The custom resource that declares the policy; no other caller may change it.
  managed_by jsonb,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
);
create index retention_policies_by_next_run on retention_policies (next_run_at);
create index retention_policies_archive_due on retention_policies (archive_due_at)
-- statement
create trigger retention_policies_archive before insert or update of archive, archive_since
  on retention_policies for each row execute function mark_archive_due()
-- statement
-- Legal holds. They block deletion under every policy. A released hold stays as a record.
create table legal_holds (
  id uuid primary key,
  project_id uuid not null,
  kind text not null check (kind in ('trace', 'task', 'conversation', 'user')),
  value text not null,
  reason text not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  released_at timestamptz(3),
  released_by text,
  managed_by jsonb,
  -- Name of the hold within its resource; null when no resource manages it.
  managed_name text
);
create index legal_holds_by_project on legal_holds (project_id, id);
create unique index legal_holds_active on legal_holds (project_id, kind, value)
  where released_at is null and managed_by is null;
create unique index legal_holds_managed on legal_holds (
  project_id, (managed_by->>'kind'), (managed_by->>'namespace'), (managed_by->>'name'), managed_name
)
  where released_at is null and managed_by is not null
-- statement
-- The results of retention runs, one row for each day, kind, environment and action. A row is
-- written before its rows are deleted, so a killed run still has its counts.
create table retention_buckets (
  job_id uuid not null references job_runs on delete cascade,
  -- Days since 1970, UTC.
  day int not null,
  kind text not null,
  environment text not null,
  action text not null check (action in ('mask', 'delete', 'keep')),
  -- `kept`: the rows are not deleted. All buckets of a dry run are `kept`.
  state text not null check (state in ('begun', 'done', 'kept')),
  -- Why rows stay; null when none do.
  reason text,
  row_count bigint not null,
  bytes bigint not null,
  held_rows bigint not null,
  primary key (job_id, day, kind, environment, action)
)
-- statement
-- Requests to erase a user's data. The user's id is stored until the data is deleted. Afterwards
-- only a digest under the project's own key remains; it can confirm a known id and reveals no
-- unknown one.
create table erasures (
  id uuid primary key,
  project_id uuid not null,
  -- Null once the data is gone.
  user_id text,
  -- HMAC-SHA-256 of the user's id under the project's key, 32 bytes.
  user_id_digest bytea not null check (octet_length(user_id_digest) = 32),
  reason text not null,
  purge boolean not null,
  job_id uuid,
  receipt jsonb,
  requested_by text not null,
  created_at timestamptz(3) not null,
  -- When the rows of the user became unreadable in every store.
  unreadable_at timestamptz(3),
  ended_at timestamptz(3)
);
create index erasures_by_project on erasures (project_id, id);
create index erasures_by_user on erasures (project_id, user_id_digest, created_at)
-- statement
-- Each project's key for the digests of erased users.
create table erasure_keys (
  project_id uuid primary key,
  -- 32 random bytes.
  key bytea not null check (octet_length(key) = 32)
)
-- statement
-- Traces of erased users, by the digest of the user as in `erasures`. They identify rows without a
-- user: rows that arrive late, and rows that a restore reads from an archive.
create table erased_traces (
  project_id uuid not null,
  user_id_digest bytea not null check (octet_length(user_id_digest) = 32),
  trace_id uuid not null,
  primary key (project_id, user_id_digest, trace_id)
);
create index erased_traces_by_trace on erased_traces (project_id, trace_id)
-- statement
-- # Archive: archived rows, and those that are restored.

-- Files that an archive run has written and verified. Another worker that takes the run over
-- continues after them. Without foreign keys to projects and jobs, so that the record outlives
-- them.
create table archive_files (
  job_id uuid not null,
  -- Index in the order of writing, from 0.
  ordinal int not null,
  name text not null,
  kind text not null,
  -- Days since 1970, UTC.
  day int not null,
  part int not null,
  row_count bigint not null,
  bytes bigint not null,
  sha256 text not null,
  -- Below 2^64.
  row_checksum numeric(20) not null,
  -- Nanoseconds since 1970.
  min_time_ns numeric(20) not null,
  max_time_ns numeric(20) not null,
  -- Position of its last row.
  position jsonb not null,
  primary key (job_id, ordinal)
)
-- statement
-- Restored slices. Queries read a slice that is ready and has not expired; one that is `ending`
-- still has rows, which a worker drops.
create table restored_slices (
  id uuid primary key,
  project_id uuid not null,
  name text not null,
  archive_run_id uuid not null,
  job_id uuid not null,
  state text not null default 'restoring'
    check (state in ('restoring', 'ready', 'ending', 'ended')),
  kinds jsonb not null,
  window_from timestamptz(3),
  window_to timestamptz(3),
  row_count bigint not null default 0,
  bytes bigint not null default 0,
  erased_rows bigint not null default 0,
  created_by text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
create unique index restored_slices_name on restored_slices (project_id, name)
  where state in ('restoring', 'ready');
create index restored_slices_by_project on restored_slices (project_id, id);
create index restored_slices_by_end on restored_slices (expires_at) where state <> 'ended'
-- statement
-- # Incident: rules, their evaluation, incidents, and notifications.

-- Incident rules, declared by people or by custom resources.
create table incident_rules (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  -- Which of the four conditions it has.
  kind text not null check (kind in ('condition', 'burn_rate', 'baseline', 'event')),
  -- The rule with all defaults: `Rule` of the incidents capability.
  spec jsonb not null,
  suspended boolean not null,
  version bigint not null,
  managed_by jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  unique (project_id, name)
);
create index incident_rules_events on incident_rules (project_id)
  where kind = 'event' and not suspended
-- statement
-- The live evaluators of rules. A lease is valid while the row of its holder has not expired.
create table evaluation_workers (
  holder uuid primary key,
  expires_at timestamptz(3) not null,
  -- Number of its leases after its last claim.
  leases int not null default 0
)
-- statement
-- The evaluator of each project that has, or had, rules. `fence` grows with each new holder, so that
-- a holder whose lease ended cannot write.
create table evaluation_leases (
  project_id uuid primary key references projects on delete cascade,
  -- Null while no worker evaluates the project.
  holder uuid references evaluation_workers,
  fence bigint not null default 0,
  -- Grows with each change of the rules. A time below is not written if it changed meanwhile.
  changes bigint not null default 0,
  -- When a slot of a rule is due next.
  due_at timestamptz(3) not null default '-infinity',
  -- When groups of event rules, or the ledger, are looked at next.
  events_due_at timestamptz(3) not null default '-infinity'
);
create index evaluation_leases_by_due on evaluation_leases (holder, due_at);
create index evaluation_leases_by_events_due on evaluation_leases (holder, events_due_at)
-- statement
create trigger evaluation_leases_announced after insert or update of changes on evaluation_leases
  for each row
  execute function announce_due('rules')
-- statement
create trigger incident_rules_due after insert or update on incident_rules
  for each row execute function mark_rules_due()
-- statement
-- The evaluation of each rule.
create table rule_evaluations (
  rule_id uuid primary key references incident_rules on delete cascade,
  project_id uuid not null,
  -- The newest version that was evaluated completely; 0 before the first.
  rule_version bigint not null default 0,
  -- End of the newest slot that is complete or skipped.
  last_slot timestamptz(3),
  evaluated_at timestamptz(3),
  groups int not null default 0,
  overflow int not null default 0,
  -- The newest gap; `lag_ms` and `partial` tell why the newest slot waits.
  gap_from timestamptz(3),
  gap_to timestamptz(3),
  lag_ms bigint not null default 0,
  partial boolean not null default false,
  failures int not null default 0,
  last_error text,
  -- Position of event rules in the ledger.
  cursor jsonb
);
create index rule_evaluations_by_project on rule_evaluations (project_id);
create index rule_evaluations_by_last_slot on rule_evaluations (last_slot)
-- statement
-- The state of a rule for each group.
create table rule_states (
  rule_id uuid not null references incident_rules on delete cascade,
  group_key text not null,
  project_id uuid not null,
  -- `GroupState` of the incidents capability.
  state jsonb not null,
  firing boolean not null,
  last_slot timestamptz(3),
  primary key (rule_id, group_key)
)
-- statement
-- Values of a rule for a group at a slot, for the series of an incident and for backtests.
create table rule_samples (
  rule_id uuid not null references incident_rules on delete cascade,
  group_key text not null,
  slot timestamptz(3) not null,
  project_id uuid not null,
  value double precision,
  samples bigint not null,
  lag_ms bigint not null,
  primary key (rule_id, group_key, slot)
);
create index rule_samples_by_slot on rule_samples (slot)
-- statement
-- The last incident number of each project.
create table incident_numbers (
  project_id uuid primary key references projects on delete cascade,
  last bigint not null
)
-- statement
-- Incidents. `core` decides the next change; the other columns are copies to filter and sort by,
-- and what an incident shows of the rule and the group that opened it.
create table incidents (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  number bigint not null,
  rule_name text not null,
  title text not null,
  signal text not null,
  group_values jsonb not null,
  labels jsonb not null,
  annotations jsonb not null,
  runbook_url text,
  -- Of the rule: when its messages are sent together.
  grouping jsonb not null,
  dedup_key text not null,
  state text not null check (state in ('open', 'acknowledged', 'resolved')),
  severity text not null check (severity in ('info', 'low', 'medium', 'high', 'critical')),
  -- Of the severity: 1 info … 5 critical.
  rank smallint not null,
  assignee text,
  suppressed boolean not null,
  flapping boolean not null,
  orphaned boolean not null,
  shadow boolean not null,
  version bigint not null,
  last_seq bigint not null,
  -- Whether a person, a key or a channel moved it.
  moved boolean not null default false,
  opened_at timestamptz(3) not null,
  first_acknowledged_at timestamptz(3),
  acknowledged_at timestamptz(3),
  resolved_at timestamptz(3),
  updated_at timestamptz(3) not null,
  -- When the next timer is due.
  timer_at timestamptz(3),
  -- `Incident` of the incidents capability.
  core jsonb not null,
  evidence jsonb not null default '[]',
  unique (project_id, number)
);
create unique index incidents_unresolved on incidents (project_id, dedup_key)
  where state <> 'resolved';
create index incidents_by_key on incidents (project_id, dedup_key, number);
-- The unresolved incidents of a rule.
create index incidents_by_rule on incidents using gin ((core->'rules')) where state <> 'resolved';
create index incidents_by_opening on incidents (project_id, opened_at, id);
create index incidents_by_timer on incidents (timer_at) where timer_at is not null
-- statement
create trigger incidents_announced after insert or update of timer_at on incidents
  for each row when (new.timer_at is not null)
  execute function announce_due('incidents', 'timer_at')
-- statement
create trigger incidents_mutes_announced after insert or update of state on incidents
  for each row when (new.state <> 'resolved')
  execute function announce_due('mutes')
-- statement
-- The timelines of incidents: each change with its actor.
create table incident_events (
  incident_id uuid not null references incidents on delete cascade,
  seq bigint not null,
  project_id uuid not null,
  type text not null,
  at timestamptz(3) not null,
  recorded_at timestamptz(3) not null,
  actor_type text not null check (actor_type in ('rule', 'user', 'key', 'channel', 'timer')),
  actor_id text not null,
  note text,
  notify text[] not null default '{}',
  primary key (incident_id, seq)
)
-- statement
-- Suppressions: which incidents are muted, and when.
create table incident_suppressions (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  spec jsonb not null,
  version bigint not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
);
create index incident_suppressions_by_project on incident_suppressions (project_id, id)
-- statement
create trigger incident_suppressions_announced after insert or update on incident_suppressions
  for each row
  execute function announce_due('mutes')
-- statement
-- The channels of incidents whose rules name none, by severity and labels.
create table incident_default_routes (
  project_id uuid primary key references projects on delete cascade,
  spec jsonb not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
)
-- statement
-- Receivers of notifications.
create table notification_channels (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  type text not null check (type in ('webhook', 'slack', 'pagerduty', 'alertmanager', 'email')),
  -- Without secrets.
  config jsonb not null,
  -- Sealed with the secret key of the service, in base64, by name of the field.
  secrets jsonb not null default '{}',
  fallback text,
  version bigint not null,
  -- When the receiver answered 410, or a person disabled it.
  disabled_at timestamptz(3),
  disabled_reason text,
  managed_by jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  unique (project_id, name)
)
-- statement
-- Messages of incidents to channels. A channel is referenced by its name: a message to a channel
-- that does not exist is dead, not lost.
create table notification_outbox (
  -- Also the `webhook-id` of each attempt.
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  incident_id uuid not null references incidents on delete cascade,
  event_seq bigint not null,
  channel text not null,
  reason text not null,
  rule_name text not null,
  -- `wait` and `interval` of the rule.
  grouping jsonb not null,
  -- The incident as it was at the event.
  message jsonb not null,
  late boolean not null,
  state text not null check (state in ('waiting', 'delivered', 'dead', 'superseded')),
  -- True once its group was due, or a person sent it again: it does not wait for the group.
  released boolean not null default false,
  attempts int not null default 0,
  -- Attempts before the last re-send.
  attempts_before int not null default 0,
  next_attempt_at timestamptz(3) not null,
  claim uuid,
  claimed_until timestamptz(3),
  last_error text,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  -- Actions of its links that a person used: each works once.
  used_links text[] not null default '{}',
  unique (incident_id, event_seq, channel)
);
create index notification_outbox_waiting on notification_outbox (next_attempt_at)
  where state = 'waiting';
create index notification_outbox_by_channel
  on notification_outbox (project_id, channel, created_at);
create index notification_outbox_by_claim on notification_outbox (claim) where claim is not null;
create index notification_outbox_by_incident
  on notification_outbox (incident_id, channel, event_seq)
-- statement
create trigger notification_outbox_announced after insert or update of next_attempt_at on notification_outbox
  for each row
  execute function announce_due('notifications', 'next_attempt_at')
-- statement
-- When messages of a channel and a rule were sent last.
create table message_groups (
  project_id uuid not null references projects on delete cascade,
  channel text not null,
  rule_name text not null,
  last_sent_at timestamptz(3) not null,
  primary key (project_id, channel, rule_name)
)
-- statement
-- Names of incidents at receivers, such as the timestamp of a Slack message.
create table channel_threads (
  project_id uuid not null references projects on delete cascade,
  channel text not null,
  incident_id uuid not null references incidents on delete cascade,
  thread text not null,
  primary key (incident_id, channel)
)
-- statement
-- Attempts to deliver messages.
create table notification_deliveries (
  id uuid primary key,
  -- Null for a test message.
  outbox_id uuid references notification_outbox on delete cascade,
  project_id uuid not null references projects on delete cascade,
  channel text not null,
  attempt int not null,
  started_at timestamptz(3) not null,
  duration_ms int not null,
  status int,
  error text,
  -- At most 2 KB, without secrets.
  response text
);
create index notification_deliveries_by_outbox on notification_deliveries (outbox_id, attempt);
create index notification_deliveries_by_channel on notification_deliveries (project_id, channel, id)
-- statement
-- # Feedback: opinions on tasks.

-- Tasks with feedback. Each change of an item locks the row of its task. Items are deleted with
-- the task.
create table feedback_tasks (
  project_id uuid not null references projects on delete cascade,
  task_id text not null,
  -- Id of the task; null while the task was not seen and its items wait.
  task_ref text,
  -- Whether `task_ref` is set. The database computes it.
  attached boolean not null generated always as (task_ref is not null) stored,
  -- Items of all states, 1–1,000.
  items int not null default 0,
  -- Votes of end users that count, by sentiment.
  negative int not null default 0,
  neutral int not null default 0,
  positive int not null default 0,
  -- Copied from the task when it was attached, as are the columns up to `task_started_at`. They do
  -- not change afterwards, because votes are added to and removed from counts under them.
  task_name text,
  environment text,
  release text,
  models text[] not null default '{}',
  -- Group of correlated votes, the first that is known: `user:<id>` of the task, `user:<id>` of
  -- the first vote, `conversation:<id>`, `task:<id>`.
  cluster text,
  task_started_at timestamptz(3),
  -- Times of the first and the last vote or comment.
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  -- Time of the next look-up of the task; null once it is attached.
  look_at timestamptz(3),
  -- When waiting items are dropped; null once the task is attached.
  expires_at timestamptz(3),
  primary key (project_id, task_id),
  foreign key (project_id, task_ref) references tasks on delete cascade
);
create index feedback_tasks_by_task on feedback_tasks (project_id, task_ref)
  where task_ref is not null;
create index feedback_tasks_waiting on feedback_tasks (look_at) where task_ref is null;
create index feedback_tasks_by_time on feedback_tasks (project_id, last_at, task_id)
  where task_ref is not null;
create index feedback_tasks_by_cluster on feedback_tasks (project_id, cluster);
create trigger feedback_cluster_changed after update on feedback_tasks
  for each row when (old.cluster is distinct from new.cluster) execute function mark_rated_task()
-- statement
create trigger feedback_tasks_announced after insert or update of look_at on feedback_tasks
  for each row when (new.look_at is not null and new.task_ref is null)
  execute function announce_due('feedback', 'look_at')
-- statement
-- Items of feedback on tasks, with their current values.
create table feedback (
  project_id uuid not null,
  task_id text not null,
  feedback_id text not null,
  source text not null check (source in ('end_user', 'annotator', 'rule')),
  -- Author of the opinion: `user:<id>`, `by:<actor>`, or empty for an anonymous end user.
  subject text not null,
  -- The end user.
  user_id text,
  trace_id uuid,
  state text not null check (state in ('pending', 'attached', 'withdrawn')),
  -- 1–5.
  rating smallint check (rating between 1 and 5),
  thumbs text check (thumbs in ('up', 'down')),
  labels text[] not null default '{}',
  comment text,
  correction text,
  metadata jsonb not null default '{}',
  -- Null for an item that judges nothing, such as a comment alone.
  sentiment text check (sentiment in ('negative', 'neutral', 'positive')),
  -- Whether rates count it. True for at most one item of a subject and task.
  counts boolean not null default false,
  -- Time of the feedback, by which rates count it.
  at timestamptz(3) not null,
  -- Whether the client's time was replaced by the time of receipt.
  time_adjusted boolean not null default false,
  version int not null,
  -- Whether a browser key created it.
  by_browser boolean not null,
  -- Keyed tag of the client network of a browser key, by which the items of a task from one
  -- network are counted. It has 15 bits and differs for each task, so that it shows no address.
  network_tag smallint,
  created_at timestamptz(3) not null,
  -- `user:<id>`, `key:<id>` or `service_account:<id>`.
  created_by text not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  -- SHA-256 of the body that created it; identifies a repeated call.
  body_digest bytea not null check (octet_length(body_digest) = 32),
  primary key (project_id, task_id, feedback_id),
  foreign key (project_id, task_id) references feedback_tasks on delete cascade
);
create unique index feedback_counts on feedback (project_id, task_id, source, subject) where counts;
create index feedback_by_time on feedback (project_id, at, source) include (sentiment, task_id)
  where counts;
create index feedback_pending on feedback (project_id, by_browser) where state = 'pending';
create index feedback_by_user on feedback (project_id, user_id) where user_id is not null;
create trigger feedback_changed after insert or update or delete on feedback
  for each row execute function mark_rated_task()
-- statement
-- The versions of each item of feedback, with actors and times. They are deleted with the item.
create table feedback_revisions (
  project_id uuid not null,
  task_id text not null,
  feedback_id text not null,
  version int not null,
  action text not null check (action in ('created', 'edited', 'withdrawn')),
  at timestamptz(3) not null,
  actor text not null,
  -- The fields that a client can set.
  value jsonb not null,
  primary key (project_id, task_id, feedback_id, version),
  foreign key (project_id, task_id, feedback_id) references feedback
    on delete cascade on update cascade
)
-- statement
-- Votes that count, by hour, source, environment and the value of a dimension. The counts change
-- in the transaction that changes the votes. They contain no user, and outlive the items. Votes on
-- tasks of the onboarding environment are not counted.
create table feedback_hours (
  project_id uuid not null references projects on delete cascade,
  source text not null check (source in ('end_user', 'annotator', 'rule')),
  dimension text not null check (dimension in ('all', 'task_name', 'release', 'model', 'label')),
  -- Start of the hour, UTC.
  hour timestamptz(3) not null,
  -- Empty for tasks without one.
  environment text not null,
  -- Empty for `all`, and for tasks without a value.
  value text not null,
  negative int not null default 0,
  neutral int not null default 0,
  positive int not null default 0,
  primary key (project_id, source, dimension, hour, environment, value)
)
-- statement
-- Items of feedback that were not stored, or whose task did not come, by hour and reason.
create table feedback_drops (
  project_id uuid not null references projects on delete cascade,
  hour timestamptz(3) not null,
  -- `task_not_seen`, `pending_limit` or `task_limit`.
  reason text not null,
  items bigint not null,
  primary key (project_id, hour, reason)
)
-- statement
-- # Insight: statistics and patterns of feedback, and the review queue.

-- Tasks with votes of a source and their features, for statistics and patterns: attached votes
-- that count, without the onboarding environment. A row is computed again when its task changes.
create table rated_tasks (
  project_id uuid not null,
  source text not null,
  task_id text not null,
  -- Id of the task; `task_id` may be another spelling of it.
  task_ref text not null,
  -- Time of its last vote.
  at timestamptz(3) not null,
  -- Group of correlated votes: `user:<id>`, `conversation:<id>` or `task:<id>`.
  cluster text not null,
  -- 0–63, by a hash of the cluster.
  bucket smallint not null,
  -- At least half of its votes are negative.
  is_negative boolean not null,
  votes int not null,
  negative_votes int not null,
  -- At most 64 features, such as `tool:search`.
  features text[] not null,
  primary key (project_id, source, task_id),
  foreign key (project_id, task_id) references feedback_tasks on delete cascade
);
create index rated_tasks_by_task on rated_tasks (project_id, task_id);
create index rated_tasks_by_time on rated_tasks (project_id, source, at, task_id);
-- Numbers of users are estimated from some buckets.
create index rated_tasks_by_bucket on rated_tasks (project_id, source, bucket, at)
-- statement
-- Sums of `rated_tasks` by day of the last vote, feature and group of users. They outlive the
-- tasks, and contain no user.
create table rated_task_counts (
  project_id uuid not null references projects on delete cascade,
  source text not null,
  -- `YYYY-MM-DD`, UTC.
  day date not null,
  -- Empty for all tasks.
  feature text not null,
  bucket smallint not null,
  tasks int not null,
  negative_tasks int not null,
  votes int not null,
  negative_votes int not null,
  primary key (project_id, source, day, feature, bucket)
)
-- statement
-- Marks of tasks whose row in `rated_tasks` is out of date. A transaction that changes a task adds
-- and locks a row here until its end, so that no change is missed. Without a foreign key: rows are
-- also added while a project is deleted.
create table rated_tasks_due (
  project_id uuid not null,
  task_id text not null,
  marks int not null default 1,
  primary key (project_id, task_id)
)
-- statement
create trigger rated_tasks_due_announced after insert on rated_tasks_due
  for each row
  execute function announce_due('feedback_counts')
-- statement
-- Tasks that started on a day, and those of them with votes of end users, by feature: response
-- rates.
create table task_day_counts (
  project_id uuid not null references projects on delete cascade,
  day date not null,
  -- Empty for the row that says when the day was counted.
  feature text not null,
  tasks int not null,
  rated int not null,
  counted_at timestamptz(3) not null,
  primary key (project_id, day, feature)
)
-- statement
-- Tasks that reviewers have taken from the review queue, or skipped. The queue offers a claimed
-- task to no other reviewer, and a skipped task not to the same one.
create table review_claims (
  project_id uuid not null,
  task_id text not null,
  -- `user:<id>` or `service_account:<id>`.
  reviewer text not null,
  state text not null check (state in ('claimed', 'skipped')),
  until timestamptz(3) not null,
  primary key (project_id, task_id, reviewer),
  foreign key (project_id, task_id) references tasks on delete cascade
)
-- statement
-- Labels of tasks, one of each reviewer. They contain no text, so nothing has to be erased.
create table review_labels (
  project_id uuid not null,
  task_id text not null,
  reviewer text not null,
  label text not null check (label in ('correct', 'incorrect', 'partly', 'unclear')),
  version int not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, task_id, reviewer),
  foreign key (project_id, task_id) references tasks on delete cascade
);
create index review_labels_by_time on review_labels (project_id, updated_at, task_id);
create trigger review_label_changed after insert or update on review_labels
  for each row execute function mark_detected_task()
-- statement
-- Whether findings were right, in the opinion of reviewers, with the detector at that time.
create table review_finding_labels (
  project_id uuid not null,
  task_id text not null,
  reviewer text not null,
  finding_id uuid not null,
  detector text not null,
  detector_version int not null,
  type text not null,
  is_right boolean not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, finding_id, reviewer),
  foreign key (project_id, task_id, reviewer) references review_labels on delete cascade
);
create index review_finding_labels_by_detector on review_finding_labels (project_id, detector, type)
-- statement
-- # Verification: claims of answers, the knowledge base, and trust.

-- Verifications of the answer of a trace. The newest verified run of a trace is its result.
create table verification_runs (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  trace_id uuid not null,
  task_id text,
  user_id text,
  environment text,
  -- Start of the trace, by which retention deletes the run, because claims quote content.
  trace_start timestamptz(3) not null,
  state text not null check (state in ('pending', 'verified', 'failed', 'cancelled')),
  trigger text not null check (trigger in ('request', 'task', 'policy')),
  requested_by text not null,
  -- The requested verifiers with all options.
  verifiers jsonb not null,
  job_id uuid,
  -- Observation with the answer; null until the run has read it.
  answer_observation_id text,
  -- SHA-256 of the answer, in hexadecimal.
  answer_digest text,
  answer_chars int,
  -- Digests and sizes of what the run read.
  context jsonb,
  -- Null until verified, and without a claim that a verifier decided.
  trust_score double precision,
  -- `Trust` of the formula, with the calibrations that it used.
  trust jsonb,
  claims int not null default 0,
  -- Claims by verdict.
  counts jsonb,
  values_checked int not null default 0,
  -- Work of each verifier, by name: state, reason, claims, cost, milliseconds.
  verifier_runs jsonb,
  cost_nano_dollars bigint not null default 0,
  tokens bigint not null default 0,
  error jsonb,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3)
);
create unique index verification_runs_pending on verification_runs (project_id, trace_id)
  where state = 'pending';
create index verification_runs_trace on verification_runs (project_id, trace_id, id desc);
create index verification_runs_task on verification_runs (project_id, task_id, id desc)
  where task_id is not null;
create index verification_runs_ended on verification_runs (project_id, ended_at)
  where state = 'verified';
create index verification_runs_start on verification_runs (project_id, trace_start)
-- statement
-- Claims of the answers that runs verified.
create table verification_claims (
  id uuid primary key,
  run_id uuid not null references verification_runs on delete cascade,
  project_id uuid not null,
  trace_id uuid not null,
  -- Order in the answer, from 0.
  position int not null,
  text text not null,
  -- UTF-16 offsets in the answer.
  starts_at int not null,
  ends_at int not null,
  kind text not null,
  -- SHA-256 of the normalised text, by which an override and a diff find the claim in other runs.
  digest text not null,
  -- Fused with `probability` by the trust formula, without overrides.
  verdict text not null,
  probability double precision,
  weight double precision not null,
  -- One entry for each verifier.
  results jsonb not null,
  -- Values of the claim, with their sources among the texts that the agent saw.
  checked_values jsonb not null,
  unique (run_id, position)
);
create index verification_claims_digest on verification_claims (project_id, trace_id, digest)
-- statement
-- Verdicts of people on claims. They outlive runs and label calibrations.
create table verification_overrides (
  project_id uuid not null references projects on delete cascade,
  trace_id uuid not null,
  claim_digest text not null,
  verdict text not null check (verdict in ('supported', 'contradicted')),
  reason text not null,
  -- The results of the verifiers at the time of the override.
  machine jsonb not null,
  trace_start timestamptz(3) not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  primary key (project_id, trace_id, claim_digest)
)
-- statement
-- Verdicts of reviewers on claims, in their labels of tasks: a verdict is deleted with its label.
-- They outlive runs and label calibrations.
create table verification_claim_labels (
  project_id uuid not null,
  task_id text not null,
  -- `user:<id>` or `service_account:<id>`.
  reviewer text not null,
  trace_id uuid not null,
  claim_digest text not null,
  -- The claim that the reviewer saw; its run may be deleted.
  claim_id uuid not null,
  verdict text not null check (verdict in ('supported', 'contradicted')),
  -- May quote content.
  reason text,
  -- The results of the verifiers at the time of the label.
  machine jsonb not null,
  -- Start of the trace, for retention.
  trace_start timestamptz(3) not null,
  created_at timestamptz(3) not null,
  primary key (project_id, task_id, reviewer, trace_id, claim_digest),
  foreign key (project_id, task_id, reviewer) references review_labels on delete cascade
);
create index verification_claim_labels_by_trace on verification_claim_labels (project_id, trace_id);
create index verification_claim_labels_by_time on verification_claim_labels (project_id, created_at)
-- statement
-- Calls of models and search endpoints by runs, with their costs. They are not observations of the
-- project.
create table verification_calls (
  id uuid primary key,
  run_id uuid not null references verification_runs on delete cascade,
  project_id uuid not null,
  -- Identifies the call within the run, so that a repeated step finds the stored reply.
  key text not null,
  verifier text not null,
  model text not null,
  outcome text not null,
  reply jsonb,
  input_tokens bigint,
  output_tokens bigint,
  nano_dollars bigint not null,
  duration_ms int,
  created_at timestamptz(3) not null,
  unique (run_id, key)
)
-- statement
-- Costs that runs booked on each day (UTC). A booking is one statement that refuses above the
-- limit.
create table verification_spend (
  project_id uuid not null references projects on delete cascade,
  day date not null,
  nano_dollars bigint not null,
  primary key (project_id, day)
)
-- statement
-- Calibration of each verifier in a project.
create table verification_calibrations (
  project_id uuid not null references projects on delete cascade,
  verifier text not null,
  version bigint not null,
  calibration jsonb not null,
  brier double precision,
  ece double precision,
  created_at timestamptz(3) not null,
  primary key (project_id, verifier)
)
-- statement
-- Policies of automatic verification, with the version that `If-Match` compares.
create table verification_policies (
  project_id uuid primary key references projects on delete cascade,
  policy jsonb not null,
  version bigint not null,
  updated_at timestamptz(3) not null,
  updated_by text not null
)
-- statement
-- Documents of the knowledge base with their current versions.
create table kb_documents (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  title text not null,
  format text not null check (format in ('text', 'markdown', 'html', 'json')),
  url text,
  version bigint not null,
  digest text not null,
  bytes bigint not null,
  chunks int not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  unique (project_id, name)
)
-- statement
-- Sources of all versions of documents.
create table kb_document_versions (
  document_id uuid not null references kb_documents on delete cascade,
  version bigint not null,
  format text not null,
  source text not null,
  digest text not null,
  bytes bigint not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  primary key (document_id, version)
)
-- statement
-- Passages of the current versions of documents.
create table kb_chunks (
  id bigint generated always as identity primary key,
  project_id uuid not null,
  document_id uuid not null references kb_documents on delete cascade,
  version bigint not null,
  position int not null,
  text text not null,
  -- Title of the document and header of the table.
  context text not null,
  -- UTF-16 offsets in the document's source.
  starts_at int not null,
  ends_at int not null,
  -- Number of terms, the length of BM25.
  terms int not null,
  digest text not null,
  unique (document_id, version, position)
);
create index kb_chunks_project on kb_chunks (project_id)
-- statement
-- Postings for BM25: how often a term occurs in a passage.
create table kb_terms (
  project_id uuid not null,
  term text not null,
  chunk_id bigint not null references kb_chunks on delete cascade,
  -- Occurrences in a passage of `terms` terms.
  tf int not null,
  terms int not null,
  primary key (project_id, term, chunk_id) include (tf, terms)
);
create index kb_terms_chunk on kb_terms (chunk_id)
-- statement
-- Sizes of the index of each project: BM25 needs the number of passages and their mean length.
create table kb_stats (
  project_id uuid primary key references projects on delete cascade,
  documents bigint not null default 0,
  chunks bigint not null default 0,
  terms bigint not null default 0,
  bytes bigint not null default 0,
  facts bigint not null default 0
)
-- statement
-- Vectors of passages by model, where a model of embeddings is set.
create table kb_embeddings (
  chunk_id bigint not null references kb_chunks on delete cascade,
  model text not null,
  vector real[] not null,
  primary key (chunk_id, model)
)
-- statement
-- Structured facts: subject, attribute, value and unit.
create table kb_facts (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  subject text not null,
  attribute text not null,
  value text not null,
  unit text not null default '',
  source text not null default '',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  unique (project_id, subject, attribute, unit)
)
-- statement
-- # Certification: policies, evidence and statements of releases.

-- Release policies with their current version. A deleted policy keeps its versions, because
-- statements name them.
create table certification_policies (
  project_id uuid not null references projects on delete cascade,
  id text not null,
  -- The current version, from 1.
  version int not null,
  -- SHA-256 of the canonical JSON of `document`, in hexadecimal.
  digest text not null,
  -- A `PolicyDocument`, without its digest.
  document jsonb not null,
  managed_by jsonb,
  created_at timestamptz(3) not null,
  created_by text not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  primary key (project_id, id)
)
-- statement
-- Versions of release policies. A version never changes, because statements name it.
create table certification_policy_versions (
  project_id uuid not null references projects on delete cascade,
  id text not null,
  version int not null,
  -- SHA-256 of the canonical JSON of `document`, in hexadecimal.
  digest text not null,
  -- A `PolicyDocument`, without its digest.
  document jsonb not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  primary key (project_id, id, version)
)
-- statement
-- Uploaded eval runs of releases. An upload of equal cases for the same release is not stored
-- again.
create table certification_eval_runs (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  release_name text not null,
  release_version text not null,
  -- 64 hex digits.
  image_digest text,
  environment text not null,
  format text not null check (format in ('junit', 'jsonl')),
  -- Root of the Merkle tree of its cases.
  digest text not null,
  cases int not null,
  passed int not null,
  failed int not null,
  skipped int not null,
  created_at timestamptz(3) not null,
  created_by text not null
);
create index certification_eval_runs_release
  on certification_eval_runs (project_id, release_name, release_version, id desc);
create index certification_eval_runs_newest on certification_eval_runs (project_id, id desc)
-- statement
-- Cases of uploaded eval runs: ids, groups, outcomes and numbers, without the messages of tests.
-- They are deleted with the run.
create table certification_eval_cases (
  run_id uuid not null references certification_eval_runs on delete cascade,
  project_id uuid not null,
  case_id text not null,
  repeat int not null,
  -- An erased user is replaced by a random name.
  cluster text,
  name text,
  passed boolean,
  score double precision,
  duration_ms double precision,
  cost_usd double precision,
  primary key (run_id, case_id, repeat)
);
create index certification_eval_cases_cluster on certification_eval_cases (project_id, cluster)
  where cluster is not null
-- statement
-- Number of looks at new evidence of each release. The row is locked while an attempt is counted.
create table certification_subjects (
  project_id uuid not null references projects on delete cascade,
  -- Digest of the image, or SHA-256 of `name@version`, in hexadecimal.
  subject text not null,
  attempts int not null default 0,
  primary key (project_id, subject)
)
-- statement
-- Plans: window, baseline and eval runs that the first certification of a release by a policy
-- declared. Later certifications use the same evidence and newer evidence.
create table certification_plans (
  project_id uuid not null references projects on delete cascade,
  -- Digest of the image, or SHA-256 of `name@version`, in hexadecimal.
  subject text not null,
  environment text not null,
  policy_id text not null,
  window_from timestamptz(3) not null,
  -- Releases of the tasks.
  release_tags text[] not null,
  baseline jsonb,
  eval_run_ids uuid[] not null default '{}',
  declared_at timestamptz(3) not null,
  primary key (project_id, subject, environment, policy_id)
)
-- statement
-- Looks at the evidence of releases, each with its verdict and signed statement.
create table certifications (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  policy_id text not null,
  policy_version int not null,
  policy_digest text not null,
  -- The `PolicyDocument` of the version, without its digest.
  policy jsonb not null,
  release_name text not null,
  release_version text not null,
  -- Releases of the tasks.
  release_tags text[] not null,
  image_digest text,
  subject text not null,
  environment text not null,
  window_from timestamptz(3) not null,
  window_to timestamptz(3) not null,
  baseline jsonb,
  eval_run_ids uuid[] not null default '{}',
  -- When the plan was declared.
  declared_at timestamptz(3) not null,
  state text not null check (state in ('pending', 'running', 'ended', 'cancelled', 'failed')),
  -- Which look at the release it is, from 1; null until it reads evidence.
  attempt int,
  job_id uuid,
  -- SHA-256 of the request, in hexadecimal.
  request_digest text not null,
  requested_by text not null,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  verdict text check (verdict in ('certified', 'rejected', 'inconclusive')),
  -- Facts that were read with the evidence.
  frozen jsonb,
  -- The readable part of the statement.
  predicate jsonb,
  -- The DSSE envelope as JSON text.
  statement text,
  key_id text,
  expires_at timestamptz(3),
  -- Salt of the ids in the evidence; erasing a user removes it.
  evidence_salt bytea,
  -- Until when its evidence is kept; null without evidence.
  held_until timestamptz(3),
  error text
);
create unique index certifications_open
  on certifications (project_id, subject, environment, policy_id)
  where state in ('pending', 'running');
create index certifications_newest on certifications (project_id, id desc);
create index certifications_subject on certifications (project_id, subject, id desc);
create index certifications_unended on certifications (window_to)
  where state in ('pending', 'running');
create index certifications_held on certifications (held_until) where held_until is not null
-- statement
create trigger certifications_announced after insert or update of window_to on certifications
  for each row
  execute function announce_due('certifications', 'window_to')
-- statement
-- Evidence of certifications in pages, so that a result can be computed again. Ids are salted
-- digests.
create table certification_evidence (
  certification_id uuid not null references certifications on delete cascade,
  project_id uuid not null,
  side text not null check (side in ('release', 'baseline')),
  source text not null check (source in ('tasks', 'eval')),
  -- From 0.
  page int not null,
  items jsonb not null,
  primary key (certification_id, side, source, page)
)
-- statement
-- Keys that signed statements. Public keys are kept, so that old statements can be verified.
create table certification_keys (
  -- SHA-256 of the SPKI, in hexadecimal.
  key_id text primary key,
  public_jwk jsonb not null,
  -- Null for a key of the configuration.
  private_key_encrypted bytea,
  created_at timestamptz(3) not null
)
-- statement
-- # Onboarding: how a project was set up.

-- Events of setting Looptrace up, by the ids that clients chose. They are kept for 400 days.
create table onboarding_events (
  project_id uuid not null references projects on delete cascade,
  -- Chosen by the client.
  event_id text not null,
  name text not null,
  -- `installation:<id>`, or who posted it, such as `user:<id>`.
  subject text not null,
  -- Time of the client, corrected as `clock` says.
  occurred_at timestamptz(3) not null,
  -- Time of the client, as it was sent.
  client_at timestamptz(3),
  received_at timestamptz(3) not null,
  clock text not null check (clock in ('client', 'corrected', 'server')),
  -- Clock of the server minus clock of the client, in milliseconds; null when it is unknown.
  skew_ms bigint,
  metadata jsonb not null default '{}',
  -- Keys of `metadata` whose values were masked.
  masked text[] not null default '{}',
  -- SHA-256 of what the client sent; distinguishes a repeated event from another one with the same
  -- id.
  digest bytea not null,
  posted_by text not null,
  primary key (project_id, event_id)
);
create index onboarding_events_by_subject
  on onboarding_events (project_id, subject, name, occurred_at);
create index onboarding_events_by_receipt on onboarding_events (project_id, received_at);
create index onboarding_events_received on onboarding_events (received_at)
-- statement
-- When a project took each step of the funnel first, by its stored data. The times are kept,
-- because retention deletes the data.
create table onboarding_steps (
  project_id uuid not null references projects on delete cascade,
  step text not null,
  reached_at timestamptz(3) not null,
  primary key (project_id, step)
)
-- statement
-- Runs of the seeded reliability scenario, with what they played and what was found of it.
create table onboarding_scenarios (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  state text not null check (state in ('running', 'ended')),
  -- The step in progress, or the last one.
  step text not null,
  outcome text check (outcome in ('as_expected', 'not_as_expected', 'failed', 'interrupted')),
  -- The played tasks with their traces, and what was found of what was expected.
  record jsonb not null,
  error text,
  requested_by text not null,
  started_at timestamptz(3) not null,
  -- A running run without one for a while has lost its process.
  heartbeat_at timestamptz(3) not null,
  ended_at timestamptz(3),
  removed_at timestamptz(3)
);
create unique index onboarding_scenarios_running on onboarding_scenarios (project_id)
  where state = 'running';
create index onboarding_scenarios_by_project on onboarding_scenarios (project_id, id)
-- statement
-- # Audit: chains of records, reads of content, checkpoints, and streams to receivers.

-- The position of each audit chain: an organization, or all zeros for the installation. A row is
-- locked last, just before the commit of the change that it records.
create table audit_chains (
  chain_id uuid primary key,
  seq bigint not null,
  hash bytea not null,
  pruned_seq bigint not null default 0,
  pruned_hash bytea not null default decode(repeat('00', 32), 'hex'),
  checkpoint_seq bigint not null default 0,
  checkpoint_digest bytea,
  checkpoint_at timestamptz(3)
)
-- statement
-- Audited calls. `origin_hash` and `change_hash` are commitments to the values beside them, which
-- can be erased. Salt and value are null without a detail, or after its erasure.
create table audit_records (
  chain_id uuid not null,
  seq bigint not null,
  recorded_at timestamptz(3) not null,
  action text not null,
  outcome text not null,
  code text,
  actor_kind text not null,
  actor_id text,
  via text not null,
  resource_type text not null,
  resource_id text,
  project_id uuid,
  request_id text not null,
  suppressed integer not null,
  segment_count integer,
  segment_hash bytea,
  origin_hash bytea,
  origin_salt bytea,
  origin_value text,
  change_hash bytea,
  change_salt bytea,
  change_value text,
  hash bytea not null,
  primary key (chain_id, seq)
);
create index audit_records_by_time on audit_records (chain_id, recorded_at);
create index audit_records_by_actor on audit_records (chain_id, actor_id, seq);
create index audit_records_by_resource on audit_records (chain_id, resource_id, seq);
-- Erasures of end users read the records of a project.
create index audit_records_by_project on audit_records (project_id, seq)
  where project_id is not null
-- statement
-- Reads of content by people that are sealed by a record.
create table audit_reads (
  -- Sorts by time.
  id uuid primary key,
  chain_id uuid not null,
  read_at timestamptz(3) not null,
  action text not null,
  actor_kind text not null,
  actor_id text not null,
  via text not null,
  resource_type text not null,
  resource_id text,
  project_id uuid,
  request_id text not null,
  origin_hash bytea not null,
  origin_salt bytea,
  origin_value text,
  -- The record of the chain that has the hash of the segment.
  segment_seq bigint
);
create index audit_reads_by_segment on audit_reads (chain_id, segment_seq);
create index audit_reads_by_actor on audit_reads (chain_id, actor_id)
-- statement
-- Reads of content by people that no record seals yet: one row for the reads of a chain in a
-- segment of a journal. A process writes reads to a journal on its disk before it sends their
-- answers. A worker moves them to `audit_reads` with the record that seals them, so that no row of
-- `audit_reads` is ever updated.
create table audit_read_batches (
  id bigint generated always as identity primary key,
  -- The journal segment that contained the reads.
  segment_id uuid not null default gen_random_uuid(),
  chain_id uuid not null,
  read_count integer not null,
  -- A JSON array of rows of `audit_reads` without `chain_id` and `segment_seq`; bytes in hex.
  reads text not null,
  unique (segment_id, chain_id)
)
-- statement
create trigger audit_read_batches_announced after insert on audit_read_batches
  for each row
  execute function announce_due('audit_reads')
-- statement
-- Stores reads of a chain from a segment of a journal, once. PostgreSQL keeps the plans of a
-- function, so that a call costs less than its statements.
create function store_audit_reads(segment uuid, chain uuid, count integer, reads_json text)
returns void
language plpgsql as $$
begin
  insert into audit_read_batches (segment_id, chain_id, read_count, reads)
  values (segment, chain, count, reads_json)
  on conflict (segment_id, chain_id) do nothing;
end $$
-- statement
-- Appends a record to its chain, and returns its number. The caller prepares the bytes of the
-- record without its position. The row of the chain is locked until the end of the transaction.
-- The policies of the chain do not look for the organization of a project, because that cost as
-- much as the two rows. If the scope does not have the chain, this function looks for it.
create function append_audit_record(
  body bytea, chain uuid, recorded_at timestamptz, action text, outcome text, code text,
  actor_kind text,
  actor_id text, via text, resource_type text, resource_id text, project_id uuid, request_id text,
  suppressed integer, segment_count integer, segment_hash bytea,
  origin_hash bytea, origin_salt bytea, origin_value text,
  change_hash bytea, change_salt bytea, change_value text
) returns bigint language plpgsql as $$
declare
  record_seq bigint;
  record_hash bytea;
begin
  update audit_chains as stored
  set seq = stored.seq + 1, hash = sha256(body || int8send(stored.seq + 1) || stored.hash)
  where stored.chain_id = chain
  returning stored.seq, stored.hash into record_seq, record_hash;
  if not found then
    if looptrace_chain_id() is null and looptrace_project_id() is not null then
      perform set_config('looptrace.chain_id', organization_id::text, true)
      from projects where id = looptrace_project_id();
    end if;
    insert into audit_chains as stored (chain_id, seq, hash)
    values (chain, 1, sha256(body || int8send(1) || decode(repeat('00', 32), 'hex')))
    on conflict (chain_id) do update
    set seq = stored.seq + 1, hash = sha256(body || int8send(stored.seq + 1) || stored.hash)
    returning stored.seq, stored.hash into record_seq, record_hash;
  end if;
  insert into audit_records (
    chain_id, recorded_at, action, outcome, code, actor_kind, actor_id, via, resource_type,
    resource_id, project_id, request_id, suppressed, segment_count, segment_hash,
    origin_hash, origin_salt, origin_value, change_hash, change_salt, change_value, seq, hash
  ) values (
    chain, recorded_at, action, outcome, code, actor_kind, actor_id, via, resource_type,
    resource_id, project_id, request_id, suppressed, segment_count, segment_hash,
    origin_hash, origin_salt, origin_value, change_hash, change_salt, change_value,
    record_seq, record_hash
  );
  return record_seq;
end $$
-- statement
-- The last erasure of each person in a chain. A read that was in a journal at that time is sealed
-- without address and client of the person.
create table audit_erasures (
  chain_id uuid not null,
  user_id text not null,
  erased_at timestamptz(3) not null,
  primary key (chain_id, user_id)
)
-- statement
-- Signed checkpoints of audit chains. Published copies outside of this database protect the
-- chains.
create table audit_checkpoints (
  chain_id uuid not null,
  seq bigint not null,
  kind text not null check (kind in ('head', 'pruned')),
  -- DSSE as JSON text.
  envelope text not null,
  created_at timestamptz(3) not null,
  -- When all sinks had it.
  published_at timestamptz(3),
  primary key (chain_id, seq, kind)
);
create index audit_checkpoints_unpublished on audit_checkpoints (created_at)
  where published_at is null
-- statement
-- Keys that sign checkpoints; the private part is encrypted with the secret of the service. Public
-- keys are kept forever, because old checkpoints are verified with them.
create table audit_keys (
  -- SHA-256 of the SPKI, in hex.
  id text primary key,
  -- SPKI in PEM.
  public_key text not null,
  private_key_encrypted bytea not null,
  created_at timestamptz(3) not null
)
-- statement
-- Streams of audit records to receivers outside of the service. The row is locked while a worker
-- sends.
create table audit_streams (
  name text primary key,
  -- Failed attempts since the last success.
  attempts integer not null default 0,
  -- The stream waits until then after failed attempts.
  next_attempt_at timestamptz(3),
  -- Records that were set aside since the receiver last accepted a new one.
  set_aside_in_row integer not null default 0
)
-- statement
-- The last record of each chain that the receiver of a stream accepted.
create table audit_stream_cursors (
  stream text not null,
  chain_id uuid not null,
  seq bigint not null,
  sent_at timestamptz(3) not null,
  primary key (stream, chain_id)
)
-- statement
-- Records that the receiver of a stream refused in their shortest form.
create table audit_stream_refusals (
  stream text not null,
  chain_id uuid not null,
  seq bigint not null,
  -- Status of the receiver's last answer.
  status integer not null,
  attempts integer not null,
  refused_at timestamptz(3) not null,
  -- When the stream went on without the record; null while it still waits for it.
  set_aside_at timestamptz(3),
  primary key (stream, chain_id, seq)
)

/**
 * A description of each table. Comments of migrations describe the step that they make; an applied
 * migration is never edited, so this is where a description can change.
 */
export const tableDescriptions: Readonly<Record<string, string>> = {
  access_emergencies:
    'Emergency revocations of keys, and resumptions of service accounts that they suspended. `actor` is the id of a user, or the resource for which an operator called. Without foreign keys, so that the record outlives its objects.',
  api_keys:
    'Keys of projects and service accounts. A key is looked up by its prefix and compared by its hash, the SHA-256 of the whole key.',
  archive_files:
    'Files that an archive run has written and verified. Another worker that takes the run over continues after them; `position` is that of the last row. Without foreign keys to projects and jobs, so that the record outlives them.',
  audit_chains:
    'The position of each audit chain: an organization, or all zeros for the installation.',
  audit_checkpoints: 'Signed checkpoints of audit chains.',
  audit_erasures:
    'The last erasure of each person in a chain, for reads that were not in PostgreSQL at that time.',
  audit_keys: 'Keys that sign checkpoints; the private part is encrypted.',
  audit_streams: 'Streams of audit records to receivers, with their failed attempts.',
  audit_stream_cursors: 'The last record of each chain that the receiver of a stream accepted.',
  audit_stream_refusals: 'Records that the receiver of a stream refused in their shortest form.',
  audit_read_batches:
    'Reads of content by people that are not sealed yet: one row for the reads of a chain in a segment of a journal.',
  audit_reads: 'Reads of content by people. `segment_seq` is the record that seals a read.',
  audit_records:
    'Audited calls. `origin_hash` and `change_hash` are commitments to the values beside them, which can be erased.',
  capture_policies:
    'The capture policy of each project. A project without a row records everything unchanged.',
  certification_eval_cases:
    'Cases of uploaded eval runs: ids, groups, outcomes and numbers, without the messages of tests.',
  certification_eval_runs:
    'Uploaded eval runs of releases. An upload of equal cases for the same release is not stored again.',
  certification_evidence:
    'Evidence of certifications in pages, so that a result can be computed again.',
  certification_keys: 'Keys that signed statements. Public keys are kept.',
  certification_plans:
    'Plans: window, baseline and eval runs that the first certification of a release by a policy declared.',
  certification_policies:
    'Release policies with their current version, and the resource that declares each.',
  certification_policy_versions:
    'Versions of release policies with their digests. A version never changes, because statements name it.',
  certification_subjects: 'Number of looks at new evidence of each image, or name and version.',
  certifications: 'Looks at the evidence of releases, each with its verdict and signed statement.',
  channel_threads:
    'Names of incidents at receivers, such as the timestamp of its first Slack message.',
  conversations: 'Conversations with their roll-ups; see `tasks`.',
  correlations: 'Correlations of traces with names from other systems.',
  detection_settings:
    'Thresholds that a project has set. A project without a row has the defaults.',
  erased_traces:
    'Traces of erased users, by the digest of the user as in `erasures`. They identify rows without a user: rows that arrive late, and rows that a restore reads from an archive.',
  erasure_keys: "Each project's key for the digests of erased users.",
  erasures:
    "Requests to erase a user's data. The user's id is stored until the data is deleted. Afterwards only a digest under the project's own key remains; it can confirm a known id and reveals no unknown one.",
  evaluation_leases:
    'The evaluator of each project. `fence` grows with each new holder, so that a holder whose lease ended cannot write.',
  events: 'Events of observations: log records and messages.',
  findings: 'Findings of detection.',
  hot_coverage:
    'The part of a project in PostgreSQL: rows that start at or after `covered_from` (nanoseconds since 1970; null: not filled yet), except for the days in `hot_gaps`.',
  hot_gaps:
    'Days (counted from 1970) with rows that were written to ClickHouse and not to PostgreSQL.',
  hot_observations:
    'The latest observations of projects that also write to PostgreSQL, with the column names of ClickHouse. Times are nanoseconds since 1970, because timestamptz has only microseconds. The writer creates a partition for each UTC day; a job drops old ones. Text sorts by its bytes, as in ClickHouse.',
  hot_traces: 'The latest records of whole traces, beside `hot_observations`.',
  idempotency_keys: 'Replies to requests with an idempotency key, until they expire.',
  incident_events: 'The timelines of incidents: each change with its actor.',
  incident_numbers: 'The last incident number of each project.',
  incident_rules: 'Incident rules. `spec` is the rule with all defaults.',
  incident_default_routes:
    'The channels of incidents whose rules name none, by severity and labels.',
  incident_suppressions: 'Suppressions: which incidents are muted, and when.',
  incidents:
    'Incidents. `core` decides the next change; the other columns are copies to filter and sort by, and what an incident shows of the rule and the group that opened it.',
  ingest_ledger:
    "The completeness ledger: the outcome of each request's items (`src/model/ledger-entry.ts`). Of several entries of one request and message, the one that was settled last stays when parts merge; an accepted entry counts as settled in 1970.",
  ingest_ledger_hours:
    'Sums of the ledger for complete hours, so that a long window need not read every entry. A row of an hour and path is valid as of an instant; the row without a path is the time of the latest late entry. Sums count while they are newer than it.',
  ingest_request_messages:
    'The outcome of each message of a batch. A message that settles again replaces its row, so redeliveries are counted once. The outcome of a request is summed when it is read.',
  ingest_requests:
    'Batches of `POST /api/v2/observability/ingest`, one row per idempotency key of a project. Without a foreign key to projects: rows are kept for a week and then deleted.',
  invitation_links:
    'Links of invitations that were sent within the last day, for the limits per organization, namespace and address.',
  invitation_projects: 'Project roles that an invitation grants.',
  invitations:
    'Invitations to organizations and projects, with the SHA-256 of the token of the link.',
  job_runs:
    'Job runs: work that outlasts a request and survives its process. The worker of a run holds its lease; after the lease ends another worker may continue from `progress`. Without a foreign key to projects, so that the record of a run outlives its project.',
  judge_spend:
    "Each project's bookings for the judge on its last day (UTC). A booking is one statement that refuses above the limit, so the limit holds for all processes together.",
  kb_chunks: 'Passages of the current versions of documents, with offsets in UTF-16 units.',
  kb_document_versions: 'Sources of all versions of documents.',
  kb_documents: 'Documents of the knowledge base with their current versions.',
  kb_embeddings: 'Vectors of passages by model, where a model of embeddings is set.',
  kb_facts: 'Structured facts: subject, attribute, value and unit.',
  kb_stats: 'Sizes of the index of each project.',
  kb_terms: 'Postings for BM25: how often a term occurs in a passage.',
  recent_links:
    'Calls of the last one to two days by the names that link a call to the one that it continues (decision 44).',
  recent_responses: "Calls of the last one to two days by the provider's name of their answer.",
  recent_traces:
    'Traces with rows of the last one to two days: which fields of ownership their rows give and want.',
  large_rollups:
    'Tasks and conversations with so large a number of observations that their roll-ups are refreshed asynchronously (decision 19). A batch marks those that it touches as due.',
  left_ledger_messages:
    'Ledger messages of edges that ended while the queue was unavailable, until a worker publishes them.',
  legal_holds:
    'Legal holds. They block deletion under every policy. A released hold stays as a record.',
  links: 'Links of observations to other traces.',
  message_groups: 'When messages of a channel and a rule were sent last.',
  notification_channels:
    'Receivers of notifications. `secrets` are sealed with the secret key of the service.',
  notification_deliveries: 'Attempts to deliver messages. `response` has at most 2 KB.',
  notification_outbox:
    'Messages of incidents to channels. The id of a message is the `webhook-id` of all its attempts. A channel is referenced by its name: a message to a channel that does not exist is dead, not lost.',
  observations:
    'Observations, in partitions of a day (decision 22). Times more than sixteen years apart from the others have partitions of a year, so that wrong clocks do not create a hundred thousand. A day without inserts for two hours is merged to one part, which FINAL reads as fast as a table without repeats.',
  onboarding_events:
    'Events of setting Looptrace up, by the ids that clients chose. They are kept for 400 days.',
  onboarding_scenarios:
    'Runs of the seeded reliability scenario, with what they played and what was found of it.',
  onboarding_steps: 'When a project took each step of the funnel first, by its stored data.',
  operator_keys:
    'Keys of the operators of clusters. Each is valid in every project, on the routes that accept an operator. A key is looked up by its prefix and compared by its hash, the SHA-256 of the whole key.',
  organization_members: 'Members of organizations with their roles.',
  organizations:
    'Organizations. Instants of the access tables have milliseconds, as in JavaScript, so that a read value equals the stored one.',
  password_resets: 'Links that set a new password, by the hash of their token.',
  project_members: 'Members of projects with their roles.',
  projects: 'Projects.',
  recorded_queries:
    'Queries with their values, which a benchmark repeats. They are kept for a week.',
  browser_sessions: 'Sessions of browsers: the SHA-256 of the cookie, and when the session ends.',
  used_sign_ins: 'Sign-ins at the external issuer that came back, for ten minutes.',
  user_identities: 'Persons at the external issuer, by the subject of the tokens for one client.',
  refresh_tokens: 'Refresh tokens, by their hash.',
  restored_correlations: 'Restored correlations; see `restored_observations`.',
  restored_events: 'Restored events; see `restored_observations`.',
  restored_links: 'Restored links; see `restored_observations`.',
  restored_observations:
    "Archived rows that were restored for a limited time. The table of a kind has the kind's columns and the slice, which is the partition, so a slice ends by dropping it. A row that is restored twice replaces itself, as in the kind's own table.",
  restored_slices:
    'Restored slices. Queries read a slice that is ready and has not expired; one that is `ending` still has rows, which a worker drops.',
  restored_traces: 'Restored records of whole traces; see `restored_observations`.',
  retention_buckets:
    'The results of retention runs, one row for each day, kind, environment and action. A row is written before its rows are deleted, so a killed run still has its counts.',
  retention_policies:
    'How long each kind of data is kept. A project without a row keeps everything forever.',
  route_stats:
    'Outcomes of reads by minute, query class and store, kept for a week. The histogram counts responses by duration; its bounds are in `store-routing/durations.ts`. Processes add their counts.',
  rule_evaluations:
    'The evaluation of each rule: the newest slot, the newest gap, groups, and the last error.',
  rule_samples:
    'Values of a rule for a group at a slot, for the series of an incident and for backtests.',
  rule_states: 'The state of a rule for each group.',
  saved_queries:
    'Saved queries. `body` is a template with placeholders `{"$param": name}`. A private query is visible to its owner only.',
  service_accounts: 'Service accounts of projects with their scopes.',
  sign_in_counts: 'Failed sign-ins by account and network, by network, and by account, as hashes.',
  sign_in_networks: 'Networks from which each account signed in, as hashes.',
  signal_minutes:
    'Sums of observations by minute and dimensions, for windows of incident rules above an hour. The rows of a minute with its newest version count. They are kept for 35 days.',
  signal_minutes_done: 'Up to when the minutes of a project are complete.',
  signing_keys: 'Keys that sign access tokens; the private part is encrypted.',
  store_routing:
    'Where the data of a project is written and read. A project without a row uses ClickHouse.',
  task_detections:
    'The state of detection for each task, and when it is due again: a batch marks the tasks that it touches, and workers claim due ones. `epoch` changes when content of the task is deleted, so that no result of that content is written; `revision` rises with each written result. Foreign keys delete derived content with its task, also content that is written meanwhile.',
  task_events: 'Events of tasks: created, completed or failed, late calls.',
  tasks:
    'Tasks with their roll-ups. A roll-up is recomputed from the observations and never incremented, so a redelivered batch changes nothing. Without a foreign key to projects: the worker writes these rows continuously, and each write would lock its project; deleting a project deletes them explicitly.',
  traces:
    'Records of whole traces, such as events and links in their tables (`src/model/ingest-records.ts`). A record that is sent again replaces itself when parts merge; until then reads take the latest by `LIMIT 1 BY` its identity.',
  users: 'People who sign in.',
  verification_calibrations: 'Calibration of each verifier in a project.',
  verification_calls:
    'Calls of models and search endpoints by runs, with their costs. They are no observations of the project.',
  verification_claims:
    'Claims of the answers that runs verified, with offsets in UTF-16 units and the results of all verifiers.',
  verification_overrides: 'Verdicts of people on claims. They outlive runs and label calibrations.',
  verification_claim_labels:
    'Verdicts of reviewers on claims, in their labels of tasks. They outlive runs and label calibrations.',
  verification_policies:
    'Policies of automatic verification, with the version that `If-Match` compares.',
  feedback:
    'Items of feedback on tasks, with their current values. `counts` marks the one item of a user or author that is in rates.',
  feedback_drops:
    'Items of feedback that were not stored, or whose task did not come, by hour and reason.',
  feedback_hours:
    'Votes that count, by hour, source, environment and the value of a dimension. They contain no user, and outlive the items.',
  feedback_revisions: 'The versions of each item of feedback, with actors and times.',
  feedback_tasks:
    'Tasks with feedback: the votes of end users, and copies of the values by which votes are counted. Without `task_ref` the task was not seen yet.',
  rated_task_counts:
    'Sums of `rated_tasks` by day of the last vote, feature and group of users. They outlive the tasks, and contain no user.',
  rated_tasks:
    'Tasks with votes of a source: the last vote, the user, and the features of the task, for statistics and patterns.',
  rated_tasks_due: 'Marks of tasks whose row in `rated_tasks` is out of date.',
  review_claims:
    'Tasks that reviewers have taken from the review queue, or skipped, until an instant.',
  review_finding_labels: 'Whether findings were right, in the opinion of reviewers.',
  review_labels: 'Labels of tasks, one of each reviewer.',
  task_day_counts:
    'Tasks that started on a day, and those of them with votes of end users, by feature: response rates.',
  verification_runs:
    'Verifications of the answer of a trace. A trace has one pending run at most; its newest verified run is its result.',
  verification_spend: 'Costs that runs booked on each day (UTC).',
}

-- A reviewer's verdict on a claim of a task, part of the reviewer's label: it goes with the label. Like an
-- override, it outlives the run and labels calibrations. machine: the results of the verifiers at the
-- time of the label. reason may quote content; trace_start: start of the trace, for retention.
create table verification_claim_labels (
  project_id uuid not null,
  task_id text not null,
  reviewer text not null,
  trace_id uuid not null,
  claim_digest text not null,
  claim_id uuid not null,
  verdict text not null check (verdict in ('supported', 'contradicted')),
  reason text,
  machine jsonb not null,
  trace_start timestamptz(3) not null,
  created_at timestamptz(3) not null,
  primary key (project_id, task_id, reviewer, trace_id, claim_digest),
  foreign key (project_id, task_id, reviewer) references review_labels on delete cascade
)
-- statement
create index verification_claim_labels_by_trace on verification_claim_labels (project_id, trace_id)
-- statement
create index verification_claim_labels_by_time on verification_claim_labels (project_id, created_at)

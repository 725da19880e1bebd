-- What a task's roll-up counts, so that observations that are surely new are added to it without
-- asking for the others: docs/decisions/0018. Null where that is not known; then it is recomputed.
-- Written with every roll-up, read by nobody else: no index may name them.
alter table tasks
  add column last_started_at timestamptz(3),
  add column counted integer[]

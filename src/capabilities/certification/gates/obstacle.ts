/** Tasks that a metric leaves out though it should measure them. */
export type Missing = 'running' | 'unanalysed' | 'unchecked' | 'unverified' | 'unpriced'

/** Names of too many missing tasks, as obstacle and as warning. */
export type MissingTasks = `many_${Missing}_tasks`

/** Reasons that prevent `certified` even if all gates pass. */
export type Obstacle =
  | 'incomplete_ledger'
  | 'incomplete_baseline'
  | 'stale_evidence'
  | 'too_much_evidence'
  | 'eval_run_missing'
  | 'attempts_exhausted'
  | 'missing_group'
  | 'late_evidence'
  | 'equal_evidence'
  | 'evidence_jump'
  | 'late_baseline'
  | 'equal_baseline'
  | 'baseline_jump'
  | MissingTasks

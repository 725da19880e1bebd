/** The kind of the jobs that delete what is due. */
export const retentionKind = 'retention'

/**
 * The kind of the jobs that count what a run would delete. It is a kind of its own, so that a worker of
 * an earlier version can't take one for a run.
 */
export const dryRunKind = 'retention_dry_run'

import type { AuditVerification } from '../../api/schema.gen.d.ts'

/** The combined result of checks of consecutive parts of a chain. */
export type Checked = Pick<
  AuditVerification,
  'valid' | 'from_seq' | 'seq' | 'records' | 'next_after' | 'protected_seq' | 'protected_at'
> &
  Pick<AuditVerification, 'pruned_seq' | 'checkpoints' | 'sinks_compared' | 'streams_compared'> &
  Pick<AuditVerification, 'erased' | 'faults'>

/** Joins the check of a part with those of the parts before it. */
export function joinChecks(before: Checked | undefined, next: Checked): Checked {
  if (before === undefined) return next
  return {
    ...next,
    valid: before.valid && next.valid,
    from_seq: before.from_seq,
    records: before.records + next.records,
    erased: before.erased + next.erased,
    checkpoints: Math.max(before.checkpoints, next.checkpoints),
    faults: [...before.faults, ...next.faults],
  }
}

/** Says in sentences what a check proves, and what it does not. */
export function explainCheck(check: Checked): string[] {
  const { records, from_seq, seq, protected_seq, pruned_seq, sinks_compared, erased } = check
  if (records === 0) return ['The chain has no records yet.']
  const unprotected = Math.max(0, seq - protected_seq)
  return [
    check.valid
      ? `Records ${from_seq} to ${seq} are complete and unchanged.`
      : `Records ${from_seq} to ${seq} were checked, and something does not fit.`,
    unprotected === 0
      ? 'A signed checkpoint protects all of them.'
      : `The last ${unprotected} of them have no signed checkpoint yet: a person who can write to the database could replace these without a trace.`,
    ...(sinks_compared === 0
      ? [
          'No copy outside of the database was compared. Set LOOPTRACE_AUDIT_CHECKPOINT_SINKS to detect a replaced database too.',
        ]
      : [`The checkpoints of ${sinks_compared} sinks outside of the database agree.`]),
    ...(pruned_seq > 0 ? [`Retention deleted the records up to ${pruned_seq}.`] : []),
    ...(erased > 0 ? [`The details of ${erased} records were erased; their hashes agree.`] : []),
  ]
}

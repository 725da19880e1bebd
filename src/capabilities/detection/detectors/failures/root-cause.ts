import type { Evidence, FindingKind, Severity } from '../../contract.ts'
import { severityRank } from '../../evidence/severity.ts'
import type { Place, TaskRun } from '../../reconstruction/contract.ts'
import { byBeginning, type FindingFacts } from './finding-position.ts'

/** Where a task began to go wrong and never got over it. */
export type RootCause = {
  kind: FindingKind
  type: string
  severity: Severity
  /** Index of `TaskRun.steps`; null when no step was reached, such as a call that failed. */
  step: number | null
  place: Place | null
  summary: string
  evidence: Evidence
}

/**
 * The earliest finding of at least medium severity that the task did not recover from. Without one,
 * the earliest unrecovered failure that is more than a remark; null when there is none either.
 */
export function rootCauseOf(findings: readonly FindingFacts[], run: TaskRun): RootCause | null {
  const open = byBeginning(
    findings.filter(({ recovered, severity }) => !recovered && severity !== 'info'),
    run,
  )
  const cause =
    open.find(({ severity }) => severityRank(severity) >= severityRank('medium')) ??
    open.find(({ kind }) => kind === 'failure')
  if (cause === undefined) return null
  return {
    kind: cause.kind,
    type: cause.type,
    severity: cause.severity,
    step: cause.start_step,
    place: cause.places[0] ?? null,
    summary: cause.summary,
    evidence: cause.evidence,
  }
}

import type { FindingDraft } from '../../contract.ts'
import { placeKey } from '../../evidence/places.ts'
import { severityRank } from '../../evidence/severity.ts'
import type { TaskRun } from '../../reconstruction/contract.ts'

/** What root causes and verdicts read of a finding, stored or just found. */
export type FindingFacts = Pick<
  FindingDraft,
  | 'kind'
  | 'type'
  | 'severity'
  | 'summary'
  | 'start_step'
  | 'places'
  | 'recovered'
  | 'evidence'
  | 'wasted_tokens'
  | 'wasted_nano_dollars'
>

/**
 * Findings in the order in which what they tell of began; at the same moment failures come first,
 * then the worse ones. One whose places are not in the run comes last.
 */
export function byBeginning<F extends FindingFacts>(findings: readonly F[], run: TaskRun): F[] {
  const callAt = new Map(run.calls.map((call) => [placeKey(call), call.index]))
  for (const { asked_by, step } of run.tools) {
    const key = placeKey(asked_by)
    const call = step === null ? undefined : run.steps[step]?.call
    if (call !== undefined && !callAt.has(key)) callAt.set(key, call)
  }
  const positionOf = ({ start_step, places }: F): number => {
    const call = start_step === null ? undefined : run.steps[start_step]?.call
    if (call !== undefined) return call
    const [place] = places
    return (place === undefined ? undefined : callAt.get(placeKey(place))) ?? Infinity
  }
  return findings
    .map((finding) => ({ finding, position: positionOf(finding) }))
    .sort((a, b) => order(a.position, b.position) || worseFirst(a.finding, b.finding))
    .map(({ finding }) => finding)
}

function order(a: number, b: number): number {
  return a === b ? 0 : a - b
}

function worseFirst(a: FindingFacts, b: FindingFacts): number {
  const byKind = Number(b.kind === 'failure') - Number(a.kind === 'failure')
  return byKind || severityRank(b.severity) - severityRank(a.severity) || (a.type < b.type ? -1 : 1)
}

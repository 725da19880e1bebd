import type { ResolvedEvidence } from '../../api/schema.gen.d.ts'
import { shownNumber } from '../../browser/shown-number.ts'

type Evidence = Pick<ResolvedEvidence, 'kind' | 'id' | 'task_id' | 'trace_id' | 'finding'>

/** Returns the task, trace and step of a piece of evidence, as far as they are known. */
export function whereOf({ kind, id, task_id, trace_id, finding }: Evidence): {
  task_id: string | undefined
  trace_id: string | undefined
  step: number | undefined
} {
  return {
    task_id: finding?.task_id ?? task_id ?? (kind === 'task' ? id : undefined),
    trace_id: finding?.trace_id ?? trace_id ?? (kind === 'trace' ? id : undefined),
    step: finding?.start_step ?? undefined,
  }
}

/**
 * Returns the search part of a link to the task: `step` is the number that pages show, `node` the
 * observation. Both lead the task's page to the row.
 */
export function taskSearch(evidence: Evidence): { step?: string; node?: string } {
  const { step } = whereOf(evidence)
  const node = evidence.finding?.observation_id
  return {
    ...(step !== undefined && { step: shownNumber(step) }),
    ...(node !== undefined && node !== null && { node }),
  }
}

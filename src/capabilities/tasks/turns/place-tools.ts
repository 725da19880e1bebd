import { spanKey, type TaskRun, type ToolUse } from '../../detection/reconstruction/index.ts'

/**
 * Returns the call at which each tool use is shown, by its index in the run: the call whose answer
 * asked for it, the call whose history had it first, or the last call of its thread before it ran.
 * Undefined only in a run without calls.
 */
export function placeTool(
  run: TaskRun,
  use: ToolUse,
  calls: ReadonlyMap<string, number>,
): number | undefined {
  const step = use.step === null ? undefined : run.steps[use.step]
  if (step !== undefined) return step.call
  const asker = calls.get(spanKey(use.asked_by))
  if (asker !== undefined) return asker
  const own = run.threads[use.thread]?.calls ?? []
  return (
    findLastBefore(run, own, use.asked_from) ?? own[0] ?? (run.calls.length > 0 ? 0 : undefined)
  )
}

function findLastBefore(
  run: TaskRun,
  calls: readonly number[],
  instant: bigint,
): number | undefined {
  return calls.findLast((call) => (run.calls[call]?.start_time ?? instant) <= instant)
}

import type { TaskRun, ToolUse } from '../reconstruction/index.ts'

/**
 * Tells whether a thread recovered from tool trouble that ended with step `end_step`: a later new
 * call succeeded, or one of the troubled calls returned a good result that it had not returned
 * before. `troubled` lists the indexes of the troubled tool uses.
 */
export function isRecovered(run: TaskRun, end_step: number, troubled: readonly number[]): boolean {
  const last = run.steps[end_step]
  const thread = last && run.threads[last.thread]
  if (thread === undefined) return false
  const known = sigsUntil(run, thread.steps, end_step)
  const own = ownResults(run, troubled)
  return thread.steps.some(
    (step) => step > end_step && toolsOf(run, step).some((use) => isProgress(use, known, own)),
  )
}

function isProgress(
  use: ToolUse,
  known: ReadonlySet<string>,
  own: ReadonlyMap<string, ReadonlySet<string | null>>,
): boolean {
  if (!use.is_answered || use.fault !== null || use.sig === null) return false
  if (!known.has(use.sig)) return true
  const before = own.get(use.sig)
  return before !== undefined && use.out !== null && !before.has(use.out)
}

function ownResults(run: TaskRun, troubled: readonly number[]): Map<string, Set<string | null>> {
  const results = new Map<string, Set<string | null>>()
  for (const index of troubled) {
    const use = run.tools[index]
    if (use === undefined || use.sig === null) continue
    const outs = results.get(use.sig) ?? new Set()
    results.set(use.sig, outs.add(use.out))
  }
  return results
}

function sigsUntil(run: TaskRun, steps: readonly number[], end_step: number): Set<string> {
  const sigs = new Set<string>()
  for (const step of steps) {
    if (step > end_step) break
    for (const use of toolsOf(run, step)) if (use.sig !== null) sigs.add(use.sig)
  }
  return sigs
}

function toolsOf(run: TaskRun, step: number): ToolUse[] {
  return (run.steps[step]?.tools ?? []).flatMap((index) => run.tools[index] ?? [])
}

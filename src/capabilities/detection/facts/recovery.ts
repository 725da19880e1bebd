import type { TaskRun, ToolUse } from '../reconstruction/index.ts'

/**
 * Whether a thread got over trouble with tools that ended with step `end_step`: later a call that the
 * thread had not made before went well, or one of the trouble's own calls gave a good result that
 * it had not given in it. `troubled` holds the indexes of the trouble's tool uses.
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

import type { TaskRun, Thread, ToolFault, ToolUse } from '../../reconstruction/index.ts'
import { natureOfTool } from '../tools/tool-effect.ts'
import { hasSucceeded } from './call-fault.ts'
import { createCourse } from './thread-course.ts'

/** Consecutive uses of one tool with the same fault and no success between them. */
export type ToolTrouble = {
  tool: string
  fault: ToolFault
  uses: readonly ToolUse[]
  start_step: number | null
  end_step: number | null
  /** True if a later use of the tool succeeded. */
  isFixed: boolean
  /** True if `isFixed`, or if the thread succeeded by other means. */
  isOver: boolean
  /** True if no further attempt is expected: the thread gave its last answer, or the task ended. */
  isAtRest: boolean
}

/** Returns the troubles of one kind, for every tool in every thread. */
export function findTroubles(
  run: TaskRun,
  wanted: ToolFault,
  spend: (units: number) => void,
): ToolTrouble[] {
  spend(run.tools.length)
  if (run.tools.every(({ fault }) => fault !== wanted)) return []
  const course = createCourse(run)
  return run.threads.flatMap((thread) => {
    const uses = course.usesOf(thread)
    spend(uses.length)
    const isAtRest = isThreadAtRest(run, thread)
    return [...Map.groupBy(uses, ({ name }) => name)].flatMap(([tool, own]) =>
      streaksOfTool(own)
        .filter(({ fault }) => fault === wanted)
        .map((streak) => {
          spend(thread.steps.length)
          return toTrouble({ ...streak, run, tool, isAtRest, all: uses })
        }),
    )
  })
}

/**
 * Tells whether the last step of the thread asks for no tool or the task failed. False if the
 * thread's last call failed, because then the agent could not continue.
 */
function isThreadAtRest(run: TaskRun, thread: Thread): boolean {
  const call = run.calls[thread.calls.at(-1) ?? -1]
  if (call !== undefined && !hasSucceeded(call)) return false
  if (run.state === 'failed') return true
  const last = run.steps[thread.steps.at(-1) ?? -1]
  if (last === undefined) return false
  return last.tools.every((at) => natureOfTool(run.tools[at]?.name ?? '').isEnd)
}

type Streak = { fault: ToolFault; faulted: ToolUse[]; isFixed: boolean }

function streaksOfTool(uses: readonly ToolUse[]): Streak[] {
  const streaks: Streak[] = []
  let mended = 0
  let open: Streak | undefined
  for (const use of uses) {
    if (!use.is_answered && use.fault === null) continue
    if (use.fault === null) {
      mended = streaks.length
      open = undefined
    } else if (open?.fault === use.fault) open.faulted.push(use)
    else {
      open = { fault: use.fault, faulted: [use], isFixed: false }
      streaks.push(open)
    }
  }
  return streaks.map((streak, at) => ({ ...streak, isFixed: at < mended }))
}

type ToolStreak = Streak & {
  run: TaskRun
  tool: string
  isAtRest: boolean
  all: readonly ToolUse[]
}

function toTrouble(seen: ToolStreak): ToolTrouble {
  const { run, tool, fault, faulted, isFixed, isAtRest } = seen
  const steps = faulted.flatMap(({ step }) => step ?? [])
  const end_step = steps.at(-1) ?? null
  const indexes = faulted.map(({ index }) => index)
  const byOtherMeans = !isFixed && end_step !== null && isRecovered(run, end_step, indexes)
  return {
    tool,
    fault,
    uses: faulted,
    start_step: steps[0] ?? null,
    end_step,
    isFixed,
    isOver: isFixed || byOtherMeans || isLaterUseGood(seen),
    isAtRest,
  }
}

/**
 * Tells whether any later use succeeded; without arguments new calls cannot be distinguished from repeats.
 */
function isLaterUseGood({ faulted, all }: ToolStreak): boolean {
  const last = faulted.at(-1)?.index ?? -1
  const later = all.findLast(({ is_answered, fault }) => is_answered && fault === null)
  return later !== undefined && later.sig === null && later.index > last
}

/**
 * Tells whether a thread recovered from tool trouble that ended with step `end_step`: a later new
 * call succeeded, or one of the troubled calls returned a good result that it had not returned
 * before. `troubled` lists the indexes of the troubled tool uses.
 */
export function isRecovered(run: TaskRun, end_step: number, troubled: readonly number[]): boolean {
  const last = run.steps[end_step]
  const thread = last && run.threads[last.thread]
  if (thread === undefined) return false
  const known = collectSigs(run, thread.steps, end_step)
  const own = collectOwnResults(run, troubled)
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

function collectOwnResults(
  run: TaskRun,
  troubled: readonly number[],
): Map<string, Set<string | null>> {
  const results = new Map<string, Set<string | null>>()
  for (const index of troubled) {
    const use = run.tools[index]
    if (use === undefined || use.sig === null) continue
    const outs = results.get(use.sig) ?? new Set()
    results.set(use.sig, outs.add(use.out))
  }
  return results
}

function collectSigs(run: TaskRun, steps: readonly number[], end_step: number): Set<string> {
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

import type { Step, TaskRun, ToolFault, ToolUse } from '../reconstruction/index.ts'
import { remember } from './remember.ts'
import { effectOfTool } from './tool-effect.ts'

/** A step with what its tools gave. */
export type StepFacts = {
  step: Step
  uses: readonly ToolUse[]
  /** Equal for equal results of equal calls, in any order; null when one is not known. */
  out: string | null
  /** `outage` when one of its calls met one; `error` when all that were answered failed. */
  fault: ToolFault | null
  /** A result is not known, and none will come: the thread went on, or the task is over. */
  is_result_missing: boolean
}

/**
 * The steps of each thread in stretches that no message of the user interrupts: what `in a row`
 * means. A step at the end of a thread that still waits for results is left out.
 */
export const stretchesOf = remember((run: TaskRun): readonly (readonly StepFacts[])[] => {
  const stretches: StepFacts[][] = []
  for (const { steps } of run.threads) {
    let stretch: StepFacts[] = []
    for (const facts of stepsOf(run, steps)) {
      if (facts.step.after_user && stretch.length > 0) {
        stretches.push(stretch)
        stretch = []
      }
      stretch.push(facts)
    }
    if (stretch.length > 0) stretches.push(stretch)
  }
  return stretches
})

/** Steps of a thread with what their tools gave, without the last one if it waits for results. */
export function stepsOf(run: TaskRun, steps: readonly number[]): StepFacts[] {
  const facts = steps.flatMap((index) => factsOf(run, index) ?? [])
  const last = facts.at(-1)
  const isOver = run.state === 'completed' || run.state === 'failed'
  const isWaiting = last !== undefined && !isOver && last.uses.some((use) => !use.is_answered)
  return isWaiting ? facts.slice(0, -1) : facts
}

function factsOf(run: TaskRun, index: number): StepFacts | undefined {
  const step = run.steps[index]
  if (step === undefined) return undefined
  const uses = step.tools.flatMap((tool) => run.tools[tool] ?? [])
  const out = outOf(uses)
  const is_result_missing = uses.length > 0 && out === null
  return { step, uses, out, fault: faultOf(uses), is_result_missing }
}

function outOf(uses: readonly ToolUse[]): string | null {
  const [only] = uses
  if (only === undefined) return null
  if (uses.length === 1) return only.out
  if (uses.some(({ out }) => out === null)) return null
  return uses
    .map(({ sig, out }) => `${sig} ${out}`)
    .sort()
    .join(' ')
}

function faultOf(uses: readonly ToolUse[]): ToolFault | null {
  if (uses.some(({ fault }) => fault === 'outage')) return 'outage'
  const answered = uses.filter((use) => use.is_answered)
  return answered.length > 0 && answered.every(({ fault }) => fault === 'error') ? 'error' : null
}

/**
 * Counts what changed the world along a thread, so that a later call is known to ask about the same
 * world as an earlier one. A history that was compacted or cut counts too: what was known is gone,
 * and it is right to ask again.
 */
export type WorldClock = {
  /** Call it once per step, after the step's own calls were looked at. */
  pass(facts: StepFacts): void
  /** Equal at two moments when nothing was changed between them. */
  moment(): number
}

/** A clock for one thread of a run, before its first step. */
export function createWorldClock(run: TaskRun, thread: number): WorldClock {
  const breaks = breaksByThread(run).get(thread)
  let moments = 0
  return {
    pass({ step, uses }) {
      if (breaks?.has(step.call)) moments++
      for (const use of uses) if (effectOfTool(use) === 'changes') moments++
    },
    moment: () => moments,
  }
}

/** Calls at which a thread's history was broken. */
const breaksByThread = remember((run: TaskRun): ReadonlyMap<number, ReadonlySet<number>> => {
  const calls = new Map<number, Set<number>>()
  for (const { thread, call } of run.breaks) {
    const known = calls.get(thread)
    if (known === undefined) calls.set(thread, new Set([call]))
    else known.add(call)
  }
  return calls
})

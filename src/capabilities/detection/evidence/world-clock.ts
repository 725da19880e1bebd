import type { TaskRun } from '../reconstruction/contract.ts'
import { remember } from './remember.ts'
import type { StepFacts } from './step-facts.ts'
import { effectOfTool } from './tool-effect.ts'

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

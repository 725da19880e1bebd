import type { TaskRun, ToolUse } from '../reconstruction/contract.ts'
import type { StepFacts } from './step-facts.ts'
import { effectOfTool, type ToolEffect } from './tool-effect.ts'

/**
 * Counts what may have changed the world along a thread, so that a later call is known to ask about
 * the same world as an earlier one. A call whose effect is not known may change it, but not for
 * its own repeats. A history that was compacted or cut counts too: then it is right to ask again.
 */
export type WorldClock = {
  /** Call it once per step, after the step's own calls were looked at. */
  pass(facts: StepFacts): void
  /** Equal at two moments when nothing but calls of the same `mine` may have changed anything. */
  momentFor(mine: string): number
}

/** `mineOf`: what a call and its own repeats share, such as `sig` or name. */
export function createWorldClock(
  run: TaskRun,
  thread: number,
  mineOf: (use: ToolUse) => string,
): WorldClock {
  const breaks = new Set(
    run.breaks.filter((told) => told.thread === thread).map(({ call }) => call),
  )
  const own = new Map<string, number>()
  let moments = 0
  return {
    pass({ step, uses }) {
      if (breaks.has(step.call)) moments++
      for (const use of uses) {
        const effect: ToolEffect = effectOfTool(use)
        if (effect === 'reads') continue
        moments++
        if (effect === 'unknown') own.set(mineOf(use), (own.get(mineOf(use)) ?? 0) + 1)
      }
    },
    momentFor: (mine) => moments - (own.get(mine) ?? 0),
  }
}

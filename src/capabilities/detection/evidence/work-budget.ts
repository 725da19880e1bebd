import { BudgetSpent, type WorkBudget } from '../contract.ts'

/** Bounds of one detector on one run. */
export type WorkBounds = {
  units_max: number
  /** Far more than the units take: it ends a detector that is held up, not one that works. */
  time_ms_max?: number
  /** Milliseconds of a clock that only goes forward. */
  now_ms?: () => number
}

/** Units of work between two looks at the clock. */
const unitsPerLook = 1_000

/**
 * Bounds what a detector does, and by that what it holds: it notes at most one thing for each unit.
 * Throws BudgetSpent when more is asked of it, or its time is over.
 */
export function createWorkBudget(bounds: WorkBounds): WorkBudget {
  const { units_max, time_ms_max = Number.POSITIVE_INFINITY, now_ms = steadyNow } = bounds
  const ends_ms = now_ms() + time_ms_max
  let left = units_max
  let lookAt = units_max - unitsPerLook
  return {
    spend(units) {
      left -= units
      if (left < 0) throw new BudgetSpent(`more than ${units_max} units of work`)
      if (left > lookAt) return
      lookAt = left - unitsPerLook
      if (now_ms() > ends_ms) throw new BudgetSpent(`it took longer than ${time_ms_max} ms`)
    },
  }
}

function steadyNow(): number {
  return performance.now()
}

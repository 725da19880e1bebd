import { BudgetSpent, type WorkBudget } from '../contract.ts'

/** A bound of `units_max` units of work. Throws BudgetSpent when more is asked of it. */
export function createWorkBudget(units_max: number): WorkBudget {
  let left = units_max
  return {
    spend(units) {
      left -= units
      if (left < 0) throw new BudgetSpent(`more than ${units_max} units of work`)
    },
  }
}

import type { Completeness, Obstacle } from '../gates/judge-gates.ts'

/** The findings of a certification, frozen with its evidence. A later reading finds the same. */
export type Frozen = {
  /** When the evidence was read, ISO 8601. */
  at: string
  /** Null without evidence of tasks. */
  ledger: Completeness | null
  obstacles: readonly Obstacle[]
  warnings: readonly string[]
  eval_runs: readonly { digest: string; cases: number }[]
}

import type { Completeness, Obstacle } from '../gates/judge-gates.ts'

/** Findings of a certification, stored with its evidence. */
export type Frozen = {
  /** When the evidence was read, ISO 8601. */
  at: string
  /** Null without evidence of tasks. */
  ledger: Completeness | null
  obstacles: readonly Obstacle[]
  warnings: readonly string[]
  eval_runs: readonly { digest: string; cases: number }[]
}

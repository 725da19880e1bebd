import type { Completeness, Obstacle } from '../gates/judge-gates.ts'

/** Facts that are stored with the evidence, so that a recomputation uses the same ones. */
export type Frozen = {
  /** When the evidence was read, ISO 8601. */
  at: string
  /** Null without evidence of tasks. */
  ledger: Completeness | null
  obstacles: readonly Obstacle[]
  warnings: readonly string[]
  eval_runs: readonly { digest: string; cases: number }[]
}

import type { Obstacle } from '../gates/gate-test.ts'
import type { Completeness } from '../gates/judge-gates.ts'
import type { SideCounts } from '../gates/task-counts.ts'

/** Facts that are stored with the evidence, so that a recomputation uses the same ones. */
export type Frozen = {
  /** When the evidence was read, ISO 8601. */
  at: string
  /** Null without evidence of tasks. */
  ledger: Completeness | null
  obstacles: readonly Obstacle[]
  warnings: readonly string[]
  /** Counts of the tasks. Absent in certifications of earlier versions. */
  tasks?: SideCounts
  /** When reading began, by the clock of the store, ISO 8601. Absent like `tasks`. */
  read_at?: string
  /** `digestEvidence` of the evidence. Absent without evidence, and in earlier versions. */
  evidence_digest?: string
  /** The certification whose statement this one repeats, because there was no new evidence. */
  same_as?: string
  eval_runs: readonly { digest: string; cases: number }[]
}

import type { Clock } from '../../kernel/time.ts'
import type { DetectionTables, Kysely, TaskTables } from '../../platform/relational/index.ts'
import type { ObservationStore } from '../storage/index.ts'
import type { ContextJudge } from './judge/context-judge.ts'

/** Where findings and the tasks that they are of are kept. */
export type DetectionDb = Kysely<DetectionTables & TaskTables>

/** What detection works on. */
export type DetectionDeps = {
  db: DetectionDb
  store: ObservationStore
  clock: Clock
  /** A model that is asked about context; without one nothing is asked. */
  judge?: ContextJudge | undefined
}

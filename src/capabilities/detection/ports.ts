import type { Clock } from '../../kernel/time.ts'
import type { DetectionTables, Kysely, TaskTables } from '../../platform/relational/index.ts'
import type { ObservationStore } from '../storage/index.ts'

/** The database of findings and of the tasks they belong to. */
export type DetectionDb = Kysely<DetectionTables & TaskTables>

/** The stores and the clock of detection. */
export type DetectionPorts = {
  db: DetectionDb
  store: ObservationStore
  clock: Clock
}

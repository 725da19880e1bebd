import type { Clock } from '../../../kernel/time.ts'
import type {
  AccessTables,
  DetectionTables,
  IncidentTables,
  Kysely,
  TaskTables,
} from '../../../platform/relational/index.ts'

import type { Examples, MeasureRange } from '../ports.ts'

/** The database of the routes: incidents, members, tasks and findings. */
export type IncidentRoutesDb = Kysely<IncidentTables & AccessTables & TaskTables & DetectionTables>

/** Dependencies of the routes of rules, suppressions, incidents and alerts. */
export type IncidentRoutesDeps = {
  db: IncidentRoutesDb
  clock: Clock
  /** Measures rules at past slots, for previews. */
  measureRange: MeasureRange
  /** Finds calls and findings that show why a rule fired. */
  examples: Examples
  /** Maximum rules of a project; 1,000 by default. */
  incident_rules_max?: number
}

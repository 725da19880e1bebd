import type { Clock } from '../../kernel/time.ts'
import type {
  DetectionTables,
  FeedbackTables,
  IncidentTables,
  InsightTables,
  Kysely,
  TaskTables,
  VerificationTables,
} from '../../platform/relational/index.ts'

/** Dependencies of the routes of statistics, patterns and reviews. */
export type InsightDeps = { db: InsightDb; clock: Clock }

/** The database of statistics of feedback, patterns and the review queue. */
export type InsightDb = Kysely<
  FeedbackTables &
    InsightTables &
    TaskTables &
    DetectionTables &
    IncidentTables &
    VerificationTables
>

/** Who may read statistics and patterns. */
export const readScope = { level: 'project', role: 'viewer', key: 'tasks:read' } as const

/** Who may review. Keys are excluded, because a label is the opinion of a person. */
export const reviewScope = { level: 'project', role: 'editor', key: null } as const

/** Who may read labels, and the figures that are computed from them. */
export const labelReadScope = { level: 'project', role: 'viewer', key: null } as const

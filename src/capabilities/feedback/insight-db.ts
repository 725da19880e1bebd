import type {
  DetectionTables,
  FeedbackTables,
  IncidentTables,
  InsightTables,
  Kysely,
  TaskTables,
  VerificationTables,
} from '../../platform/relational/index.ts'

/** The database of statistics of feedback, patterns and the review queue. */
export type InsightDb = Kysely<
  FeedbackTables &
    InsightTables &
    TaskTables &
    DetectionTables &
    IncidentTables &
    VerificationTables
>

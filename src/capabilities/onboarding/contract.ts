import type { Clock } from '../../kernel/time.ts'
import type {
  AccessTables,
  ArchiveTables,
  DetectionTables,
  IncidentTables,
  JobTables,
  Kysely,
  OnboardingTables,
  RetentionTables,
  TaskTables,
  VerificationTables,
} from '../../platform/relational/index.ts'

/** The database of onboarding: its own tables, and those that the report and the funnel read. */
export type OnboardingDb = Kysely<
  OnboardingTables &
    AccessTables &
    ArchiveTables &
    DetectionTables &
    IncidentTables &
    JobTables &
    RetentionTables &
    TaskTables &
    VerificationTables
>

/** Dependencies that all routes of onboarding have. */
export type OnboardingDeps = { db: OnboardingDb; clock: Clock }

/** Who may read the funnel, the report and runs of the scenario. */
export const readScope = {
  level: 'project',
  role: 'viewer',
  key: 'tasks:read',
} as const

/** Who may post events, and start the scenario. */
export const writeScope = { level: 'project', role: 'editor', key: 'ingest:write' } as const

import type {
  CertificationTables,
  DetectionTables,
  JobTables,
  Kysely,
  Selectable,
  TaskTables,
} from '../../../platform/relational/index.ts'

/** The database of certifications, and of the tasks and jobs that they read and start. */
export type CertificationDb = Kysely<CertificationTables & TaskTables & DetectionTables & JobTables>

/** A stored certification; instants are ISO 8601. `id` is a UUIDv7. */
export type Certification = Selectable<CertificationTables['certifications']>

/** The release that a regression is measured against, as a plan declares it. */
export type Baseline = {
  name: string
  version: string
  /** Releases of its tasks. */
  tags: readonly string[]
  environment: string
  window: { from: string; to: string }
  eval_run_ids: readonly string[]
}

/**
 * Returns whether the feedback of end users on each task is negative. Tasks without feedback
 * are missing.
 */
export type ReadFeedback = (asked: {
  project_id: string
  task_ids: readonly string[]
}) => Promise<ReadonlyMap<string, { is_negative: boolean }>>

/** Stored for tasks and eval runs without an environment; a name has at least one character. */
const noEnvironment = ''

/** Returns an environment as it is stored. */
export function toStoredEnvironment(name: string | null): string {
  return name ?? noEnvironment
}

/** Returns the name of a stored environment; null for none. */
export function toEnvironmentName(stored: string): string | null {
  return stored === noEnvironment ? null : stored
}

/** Returns a stored environment as the end of a sentence. */
export function describeEnvironment(stored: string): string {
  return stored === noEnvironment ? 'without an environment' : `in ${stored}`
}

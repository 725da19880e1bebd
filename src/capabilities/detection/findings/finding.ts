import type { DetectionTables, Selectable } from '../../../platform/relational/index.ts'

/** A finding as it is stored; instants are ISO 8601, money is decimal USD. */
export type Finding = Selectable<DetectionTables['findings']>

/** What a detector could not look at in a task, and why. */
export type NotChecked = { detector: string; reason: string }

/** What a detection changed, by `finding_id`. */
export type FindingChanges = {
  /** Found for the first time, or again after it was withdrawn. */
  opened: readonly string[]
  updated: readonly string[]
  /** A later call shows that the task got over it. */
  recovered: readonly string[]
  /** A call that came late shows that it never was so. */
  withdrawn: readonly string[]
  unchanged: readonly string[]
}

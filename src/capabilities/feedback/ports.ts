import type { FeedbackTables, Kysely, TaskTables } from '../../platform/relational/index.ts'

/** The database of feedback and the rated tasks. */
export type FeedbackDb = Kysely<FeedbackTables & TaskTables>

/** Limits of stored feedback. */
export type FeedbackLimits = {
  /** Items of a task, withdrawn ones included. */
  items_of_task_max: number
  /** Items of a task that browser keys can create, so that they leave room for other keys. */
  browser_items_of_task_max: number
  /** Items of a task that browser keys can create from one client network. */
  browser_items_of_network_max: number
  /** Versions of an item. */
  versions_max: number
  /** Waiting items of a project, and those of browser keys. */
  pending_max: number
  browser_pending_max: number
  /** Time for which an item waits for its task. */
  pending_ms: number
}

export const defaultFeedbackLimits: FeedbackLimits = {
  items_of_task_max: 1_000,
  browser_items_of_task_max: 100,
  browser_items_of_network_max: 10,
  versions_max: 100,
  pending_max: 10_000,
  browser_pending_max: 2_000,
  pending_ms: 24 * 60 * 60 * 1000,
}

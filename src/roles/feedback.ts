import {
  countFeedbackChore,
  countTaskDaysChore,
  feedbackChores,
  feedbackMeters,
  openFeedbackRetention,
} from '../capabilities/feedback/index.ts'
import type { Chore } from '../capabilities/jobs/index.ts'
import type { RetentionTarget } from '../capabilities/storage/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Opens the worker's part of feedback: items that wait for their tasks, counts, retention, erasure. */
export function openFeedback(
  { clock, logger, metrics }: Pick<RoleContext, 'clock' | 'logger' | 'metrics'>,
  { db }: Pick<Stores, 'db'>,
): { handlers: []; chores: Chore[]; retention: RetentionTarget } {
  const meters = feedbackMeters(metrics)
  return {
    handlers: [],
    chores: [
      ...feedbackChores({ db, clock, logger, meters }),
      countFeedbackChore({ db }),
      countTaskDaysChore({ db, clock }),
    ],
    retention: openFeedbackRetention({ db }),
  }
}

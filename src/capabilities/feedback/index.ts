import type { Route } from '../../platform/http/index.ts'
import {
  createFeedback,
  editFeedback,
  getFeedback,
  listFeedback,
  withdrawFeedback,
} from './feedback.ts'
import { getFeedbackHistory } from './history.ts'
import type { FeedbackDeps } from './named-item.ts'

export { createBrowserLimits, createNetworkTags } from './browser-limits.ts'
export type { InsightDeps } from './contract.ts'
export { countFeedbackChore, countTaskDaysChore } from './counting/chores.ts'
export { insightRoutes } from './insight-routes.ts'
export { openFeedbackRetention } from './items/feedback-retention.ts'
export type { FeedbackDeps } from './named-item.ts'
export { defaultFeedbackLimits, type FeedbackDb, type FeedbackLimits } from './ports.ts'
export { findNegativeTasks } from './votes/negative-tasks.ts'
export { attachWaiting, feedbackChores, feedbackMeters } from './waiting/attach-waiting.ts'

/** The routes of feedback under `/api/v1/tasks`. */
export function feedbackRoutes(deps: FeedbackDeps): Route[] {
  return [
    createFeedback(deps),
    listFeedback(deps),
    getFeedback(deps),
    editFeedback(deps),
    withdrawFeedback(deps),
    getFeedbackHistory(deps),
  ]
}

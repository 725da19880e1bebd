import type { Route } from '../../platform/http/index.ts'
import type { InsightDeps } from './contract.ts'
import { exportFeedback } from './export/export.ts'
import {
  createFeedback,
  editFeedback,
  getFeedback,
  listFeedback,
  withdrawFeedback,
} from './feedback.ts'
import { getFeedbackHistory } from './history.ts'
import type { FeedbackDeps } from './named-item.ts'
import { listFeedbackPatterns } from './patterns/patterns.ts'
import { getDetectorPrecision } from './review/detector-precision.ts'
import { labelTask, listReviewLabels, unlabelTask } from './review/labels.ts'
import { claimReviews, getReviewAgreement, listReviewQueue, skipReview } from './review/review.ts'
import { getFeedbackStats } from './stats/stats.ts'

export { createBrowserLimits, createNetworkTags } from './browser-limits.ts'
export type { InsightDeps } from './contract.ts'
export { countFeedbackChore, countTaskDaysChore } from './counting/chores.ts'
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

/** The routes of statistics, patterns and reviews under `/api/v1/feedback`. */
export function insightRoutes(deps: InsightDeps): Route[] {
  return [
    getFeedbackStats(deps),
    listFeedbackPatterns(deps),
    listReviewQueue(deps),
    claimReviews(deps),
    skipReview(deps),
    listReviewLabels(deps),
    labelTask(deps),
    unlabelTask(deps),
    getReviewAgreement(deps),
    getDetectorPrecision(deps),
    exportFeedback(deps),
  ]
}

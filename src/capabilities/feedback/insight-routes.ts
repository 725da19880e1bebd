import type { Route } from '../../platform/http/index.ts'
import type { InsightDeps } from './contract.ts'
import { exportFeedback } from './export/export.ts'
import { listFeedbackPatterns } from './patterns/patterns.ts'
import { getReviewAgreement } from './review/agreement.ts'
import { claimReviews } from './review/claim.ts'
import { getDetectorPrecision } from './review/detector-precision.ts'
import { labelTask, listReviewLabels, unlabelTask } from './review/labels.ts'
import { listReviewQueue } from './review/review.ts'
import { skipReview } from './review/skip.ts'
import { getFeedbackStats } from './stats/stats.ts'

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

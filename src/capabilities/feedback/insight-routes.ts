import type { Route } from '../../platform/http/index.ts'
import type { InsightDeps } from './contract.ts'
import { listFeedbackPatterns } from './patterns/patterns.ts'
import { getFeedbackStats } from './stats/stats.ts'

/** The routes of statistics, patterns and reviews under `/api/v1/feedback`. */
export function insightRoutes(deps: InsightDeps): Route[] {
  return [getFeedbackStats(deps), listFeedbackPatterns(deps)]
}

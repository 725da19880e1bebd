export type { InsightDeps } from './contract.ts'
export { countFeedbackChore, countTaskDaysChore } from './counting/chores.ts'
export { insightRoutes } from './insight-routes.ts'

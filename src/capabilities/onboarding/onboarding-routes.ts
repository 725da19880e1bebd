import type { Route } from '../../platform/http/index.ts'
import { getOnboardingClients } from './clients.ts'
import { postOnboardingEvents } from './events.ts'
import { getOnboardingFunnel } from './funnel.ts'
import type { ReportDeps } from './report/read-facts.ts'
import { getOnboardingReport } from './report.ts'
import type { ScenarioDeps } from './scenario/contract.ts'
import {
  deleteScenarios,
  getLastScenario,
  getScenario,
  postSeededScenario,
} from './seeded-reliability-scenario.ts'

/** Dependencies of the routes of onboarding. */
export type OnboardingRoutesDeps = ReportDeps & ScenarioDeps

/** The routes under `/api/v1/onboarding`. */
export function onboardingRoutes(deps: OnboardingRoutesDeps): Route[] {
  return [
    getOnboardingClients(),
    postOnboardingEvents(deps),
    getOnboardingFunnel(deps),
    getOnboardingReport(deps),
    postSeededScenario(deps),
    getLastScenario(deps),
    getScenario(deps),
    deleteScenarios(deps),
  ]
}

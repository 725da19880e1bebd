import type { Route } from '../../platform/http/index.ts'
import { getOnboardingClients } from './clients/clients.ts'
import { postOnboardingEvents } from './events/events.ts'
import { getOnboardingFunnel } from './funnel/funnel.ts'
import type { ReportDeps } from './report/read-facts.ts'
import { getOnboardingReport } from './report/report.ts'
import type { ScenarioDeps } from './scenario/contract.ts'
import {
  deleteScenarios,
  getLastScenario,
  getScenario,
  postSeededScenario,
} from './scenario/seeded-reliability-scenario.ts'

export type { OnboardingDb } from './contract.ts'
export { deleteOldEvents } from './events/store.ts'
export { type ScenarioAgent, scenarioAgents } from './scenario/agents.ts'
export {
  type PlayedAgent,
  type PlayScenario,
  ScenarioRuns,
  scenarioIds,
} from './scenario/contract.ts'
export { deleteOldScenarios } from './scenario/store.ts'

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

export type { OnboardingDb } from './contract.ts'
export { deleteOldEvents } from './events/store.ts'
export { type OnboardingRoutesDeps, onboardingRoutes } from './onboarding-routes.ts'
export { runSample, type SampleOptions } from './sample-run.ts'
export { sampleScript } from './sample-script.ts'
export { scenarioScript } from './scenario/agents.ts'
export { type PlayScenario, ScenarioRuns } from './scenario/contract.ts'
export { playAgents } from './scenario/play-agents.ts'
export { deleteOldScenarios } from './scenario/store.ts'
export type { ProviderName, ScriptInput } from './scripted-provider/script.ts'
export type { Seen, SeenRequest } from './scripted-provider/seen.ts'
export {
  type ScriptedProvider,
  type ScriptedProviderOptions,
  startScriptedProvider,
} from './scripted-provider/server.ts'
export { type SmokeOptions, smokeTest } from './smoke-test.ts'

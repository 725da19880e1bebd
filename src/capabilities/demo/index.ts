export { playAgents, scenarioScript } from './play-agents.ts'
export { runSample, type SampleOptions } from './sample-run.ts'
export { sampleScript } from './sample-script.ts'
export type { ProviderName, ScriptInput } from './scripted-provider/script.ts'
export type { Seen, SeenRequest } from './scripted-provider/seen.ts'
export {
  type ScriptedProvider,
  type ScriptedProviderOptions,
  startScriptedProvider,
} from './scripted-provider/server.ts'
export { smokeTest } from './smoke-test.ts'

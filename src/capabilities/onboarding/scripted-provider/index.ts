export type { ProviderName, Script, ScriptInput } from './script.ts'
export { providerNames } from './script.ts'
export type { Seen, SeenOutcome, SeenPhase, SeenRequest } from './seen.ts'
export {
  type ScriptedProvider,
  type ScriptedProviderOptions,
  startScriptedProvider,
} from './server.ts'

export type { ProviderName, ScriptInput } from './script.ts'
export type { Seen, SeenRequest } from './seen.ts'
export {
  type ScriptedProvider,
  type ScriptedProviderOptions,
  startScriptedProvider,
} from './server.ts'

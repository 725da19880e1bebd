export {
  type ProviderName,
  type ScriptedProvider,
  type ScriptedProviderOptions,
  type ScriptInput,
  type Seen,
  type SeenRequest,
  startScriptedProvider,
} from './scripted-provider/index.ts'

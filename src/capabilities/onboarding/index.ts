export { runSample, type SampleOptions } from './sample-run.ts'
export { sampleScript } from './sample-script.ts'
export {
  type ProviderName,
  type ScriptedProvider,
  type ScriptedProviderOptions,
  type ScriptInput,
  type Seen,
  type SeenRequest,
  startScriptedProvider,
} from './scripted-provider/index.ts'
export { type SmokeOptions, smokeTest } from './smoke-test.ts'

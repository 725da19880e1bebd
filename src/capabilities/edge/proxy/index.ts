export {
  type CompletionProxy,
  defaultProxySettings,
  type ProjectKey,
  type ProjectKeys,
  type ProxyDependencies,
  type ProxySettings,
} from './contract.ts'
export { ProvidersFileRefused } from './providers-file/parse-providers.ts'
export {
  openProvidersFile,
  type ProvidersFile,
  providersFileGauge,
} from './providers-file/providers-file.ts'
export { createProxy } from './proxy.ts'
export { createCaptureRecorder } from './recorder/capture-recorder.ts'
export {
  createRecorder,
  frameLimits,
  type Recorder,
} from './recorder/recorder.ts'
export { proxyRoutes } from './routes.ts'

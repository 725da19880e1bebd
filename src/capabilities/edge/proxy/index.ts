export type {
  CompletionProxy,
  Endpoint,
  ExchangeRecorder,
  ProjectKey,
  ProjectKeys,
  ProxyDependencies,
} from './contract.ts'
export type { Provider } from './providers/contract.ts'
export { createProxy } from './proxy.ts'
export {
  type CaptureWay,
  type CaptureWayOptions,
  createCaptureWay,
} from './recorder/capture-way.ts'
export {
  createRecorder,
  type Recorder,
  type RecorderOptions,
} from './recorder/recorder.ts'
export { proxyRoutes } from './routes.ts'
export { defaultProxySettings, type ProxySettings } from './settings.ts'

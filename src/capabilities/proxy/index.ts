export type {
  Endpoint,
  ExchangeRecorder,
  ProjectKey,
  ProjectKeys,
  Proxy,
  ProxyDependencies,
} from './contract.ts'
export type { Provider } from './providers/contract.ts'
export { type ProviderName, providerNamed, providers } from './providers/registry.ts'
export { defaultProxySettings, type ProxySettings } from './settings.ts'

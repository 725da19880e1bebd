export { configurationPage } from './configuration-page.ts'
export { ConfigError, loadConfig } from './load-config.ts'
export type { Role, RoleConfig } from './roles.ts'

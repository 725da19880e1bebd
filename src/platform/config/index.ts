export { chartSettings, configurationPage } from './configuration-page.ts'
export { ConfigError, loadConfig, readSettingFile, SettingFileRefused } from './load-config.ts'
export type { Role, RoleConfig } from './roles.ts'

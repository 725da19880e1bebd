export { chartSettings, configurationPage } from './configuration-page.ts'
export { ConfigError, loadConfig } from './load-config.ts'
export type { Role, RoleConfig } from './roles.ts'
export { readSettingFile, SettingFileRefused } from './setting-files.ts'

import { type ModelEndpoint, readModelKeys } from './model-endpoints.ts'
import { type RoleConfig, roleSchemas } from './roles.ts'
import { settingNotes } from './setting.ts'
import { readSettingFile, SettingFileRefused } from './setting-file.ts'
import type { Configured } from './setting-groups.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Invalid configuration. The message names each variable, its value and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Returns the environment variable of a setting: `LOOPTRACE_PROXY_PORT` for `proxy_port`. */
export function variableOf(setting: string): string {
  return `LOOPTRACE_${setting.toUpperCase()}`
}

/** Returns the variable with the path of a file that contains the setting. */
function fileVariableOf(setting: string): string {
  return `${variableOf(setting)}_FILE`
}

/**
 * Reads the settings of a role from the environment: each from its variable, or from the file that
 * the variable with `_FILE` names. An empty variable or file counts as unset. Throws ConfigError
 * with one line per fault, also for unknown variables that start with `LOOPTRACE_`.
 */
export function loadConfig<R extends Configured>(
  role: R,
  env: Environment = process.env,
): RoleConfig<R> {
  const schema = roleSchemas[role]
  const given: Given[] = Object.keys(schema.shape).map((setting) => readGiven(setting, env))
  const result = schema.safeParse(
    Object.fromEntries(given.map(({ setting, value }) => [setting, value])),
  )
  const faults = given.flatMap(({ fault }) => fault ?? [])
  for (const { path, message } of result.error?.issues ?? []) {
    const found = given.find(({ setting }) => setting === path[0])
    if (found !== undefined && found.fault === undefined) {
      faults.push(describeFault(role, found, message))
    }
  }
  faults.push(...unknownVariables(env))
  if (!result.success || faults.length > 0) {
    throw new ConfigError(`the configuration is not valid:\n${faults.join('\n')}`)
  }
  const config = result.data as RoleConfig<R>
  const own = config as PostgresConfig & { verification_models?: readonly ModelEndpoint[] }
  return {
    ...config,
    ...('postgres_url' in schema.shape && { postgres_url: buildPostgresUrl(own) }),
    ...(own.verification_models && {
      verification_models: withKeys(own.verification_models, env),
    }),
  }
}

function withKeys(models: readonly ModelEndpoint[], env: Environment): ModelEndpoint[] {
  const { read, faults } = readModelKeys(models, env)
  if (faults.length === 0) return read
  const lines = faults.map((fault) => `  ${variableOf('verification_models')}: ${fault}`)
  throw new ConfigError(`the configuration is not valid:\n${lines.join('\n')}`)
}

/** A setting as given: its text and the file it was read from, or why that is impossible. */
type Given = { setting: string; value?: string | undefined; path?: string; fault?: string }

function readGiven(setting: string, env: Environment): Given {
  const [variable, file] = [variableOf(setting), fileVariableOf(setting)]
  const value = env[variable] || undefined
  const path = knownVariables.has(file) ? undefined : env[file] || undefined
  if (path === undefined) return { setting, value }
  if (value !== undefined) {
    return { setting, fault: `  ${variable} and ${file}: got both, set only one` }
  }
  try {
    return { setting, value: readSettingFile(path), path }
  } catch (error) {
    if (!(error instanceof SettingFileRefused)) throw error
    return { setting, fault: `  ${file}: ${error.message}` }
  }
}

function describeFault(role: Configured, { setting, value, path }: Given, message: string): string {
  const shape: Record<string, unknown> = roleSchemas[role].shape
  const notes = settingNotes.get(shape[setting] as never)
  if (value === undefined) return `  ${variableOf(setting)}: missing, expected ${notes?.expected}`
  if (path !== undefined) {
    return `  ${fileVariableOf(setting)}: got the content of ${path}, ${message}`
  }
  if (notes?.unit === 'JSON') return `  ${variableOf(setting)}: ${message}`
  const shown = notes?.unit === 'secret' ? '(a secret)' : JSON.stringify(hidePassword(value))
  return `  ${variableOf(setting)}: got ${shown}, ${message}`
}

/** Hides the password of a URL, also in an invalid URL: `scheme://user:password@host`. */
function hidePassword(value: string): string {
  return value.replace(/^((?:\w+:\/+)?[^:@]*):.*@/, '$1:***@')
}

/** The variables of all settings of all roles. */
const knownVariables: ReadonlySet<string> = new Set(
  Object.values(roleSchemas).flatMap((schema) => Object.keys(schema.shape).map(variableOf)),
)

/** Reports unknown variables, so that a misspelt variable is not ignored. */
function unknownVariables(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('LOOPTRACE_'))
    .filter((name) => !knownVariables.has(name) && !knownVariables.has(name.replace(/_FILE$/, '')))
    .map((name) => `  ${name}: ${removedSettings.get(name) ?? unknownSetting}`)
}

const unknownSetting = 'unknown setting; see docs/reference/configuration.md'

/** Settings of earlier versions, with what replaced them. */
const removedSettings: ReadonlyMap<string, string> = new Map([
  [
    'LOOPTRACE_OPERATOR_PROJECTS',
    'was replaced by the kind ProjectGrant: apply a grant for each namespace and project, and remove the setting; see docs/guides/upgrade.md',
  ],
])

/** Settings of the PostgreSQL address. */
type PostgresConfig = Partial<
  Pick<
    RoleConfig<'worker'>,
    | 'postgres_url'
    | 'postgres_host'
    | 'postgres_port'
    | 'postgres_database'
    | 'postgres_username'
    | 'postgres_password'
    | 'postgres_ssl_mode'
    | 'postgres_ca_file'
  >
>

/**
 * Returns the address of PostgreSQL: `postgres_url`, or a URL built from its parts, or undefined
 * when neither is set. `uselibpqcompat` gives `require` the meaning it has in libpq: encrypted,
 * with any certificate
 * (https://github.com/brianc/node-postgres/tree/master/packages/pg-connection-string).
 */
function buildPostgresUrl(config: PostgresConfig): string | undefined {
  const { postgres_url, postgres_host } = config
  if (postgres_url !== undefined || postgres_host === undefined) return postgres_url
  const url = new URL(`postgres://${quoteHost(postgres_host)}:${config.postgres_port}`)
  url.username = encodeURIComponent(config.postgres_username ?? '')
  url.password = encodeURIComponent(config.postgres_password ?? '')
  url.pathname = encodeURIComponent(config.postgres_database ?? '')
  url.searchParams.set('sslmode', config.postgres_ssl_mode ?? 'require')
  if (config.postgres_ca_file !== undefined) {
    url.searchParams.set('sslrootcert', config.postgres_ca_file)
  }
  url.searchParams.set('uselibpqcompat', 'true')
  return url.href
}

/** Puts an IPv6 address in brackets, as URLs require. */
function quoteHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

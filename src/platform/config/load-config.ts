import { type Configured, type RoleConfig, roleSchemas } from './roles.ts'
import { settingNotes } from './setting.ts'

/** Invalid configuration. The message names each variable, its value and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Returns the environment variable of a setting: `LOOPTRACE_PROXY_PORT` for `proxy_port`. */
export function variableOf(setting: string): string {
  return `LOOPTRACE_${setting.toUpperCase()}`
}

/**
 * Reads the settings of a role from the environment. An empty variable counts as unset. Throws
 * ConfigError with one line per fault, also for unknown variables that start with `LOOPTRACE_`.
 */
export function loadConfig<R extends Configured>(
  role: R,
  env: Readonly<Record<string, string | undefined>> = process.env,
): RoleConfig<R> {
  const schema = roleSchemas[role]
  const values = Object.fromEntries(
    Object.keys(schema.shape).map((setting) => [setting, env[variableOf(setting)] || undefined]),
  )
  const result = schema.safeParse(values)
  const faults = result.success
    ? []
    : result.error.issues.map(({ path, message }) =>
        describeFault(role, String(path[0]), values, message),
      )
  faults.push(...unknownVariables(env))
  if (!result.success || faults.length > 0) {
    throw new ConfigError(`the configuration is not valid:\n${faults.join('\n')}`)
  }
  const config = result.data as RoleConfig<R>
  return 'postgres_url' in schema.shape
    ? { ...config, postgres_url: buildPostgresUrl(config as PostgresConfig) }
    : config
}

function describeFault(
  role: Configured,
  setting: string,
  values: Record<string, string | undefined>,
  message: string,
): string {
  const shape: Record<string, unknown> = roleSchemas[role].shape
  const notes = settingNotes.get(shape[setting] as never)
  const value = values[setting]
  if (value === undefined) return `  ${variableOf(setting)}: missing, expected ${notes?.expected}`
  const shown = notes?.unit === 'secret' ? '(a secret)' : JSON.stringify(hidePassword(value))
  return `  ${variableOf(setting)}: got ${shown}, ${message}`
}

/** Hides the password of a URL, also in an invalid URL: `scheme://user:password@host`. */
function hidePassword(value: string): string {
  return value.replace(/^((?:\w+:\/+)?[^:@]*):.*@/, '$1:***@')
}

/** Reports unknown variables, so that a misspelt variable is not ignored. */
function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = new Set(
    Object.values(roleSchemas).flatMap((schema) => Object.keys(schema.shape).map(variableOf)),
  )
  return Object.keys(env)
    .filter((name) => name.startsWith('LOOPTRACE_') && !known.has(name))
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

import type { RoleConfig } from './roles.ts'

/** What its address may be made of. */
export type PostgresConfig = Partial<
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
 * The address of PostgreSQL: as it is set, or made of its parts; undefined when neither is set.
 * `uselibpqcompat` has `require` mean what it means to PostgreSQL's own clients: encrypted, with any
 * certificate (https://github.com/brianc/node-postgres/tree/master/packages/pg-connection-string).
 */
export function postgresUrlOf(config: PostgresConfig): string | undefined {
  const { postgres_url, postgres_host } = config
  if (postgres_url !== undefined || postgres_host === undefined) return postgres_url
  const url = new URL(`postgres://${hostOf(postgres_host)}:${config.postgres_port}`)
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

/** An IPv6 address stands in brackets in a URL. */
function hostOf(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

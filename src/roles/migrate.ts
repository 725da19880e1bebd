import { columnarSchemaStatus } from '../platform/columnar/index.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import {
  assertSchemaCurrent,
  MigrationRefused,
  type SchemaStatus,
} from '../platform/migrations/index.ts'
import { relationalSchemaStatus } from '../platform/relational/index.ts'
import { bootstrapSecret } from './bootstrap-secret.ts'
import { oneShot, print } from './one-shot.ts'
import { givenOperatorKey } from './operator-key.ts'
import { bringUpToDate } from './schema.ts'
import { nameThePostgres, openClickHouse, openPostgres } from './stores.ts'

/**
 * Brings both stores to the current schema and makes the first login. Where a Secret is to hold it,
 * that comes first, so that a start which dies in between has lost nothing and the next one goes on;
 * otherwise it is printed, unless it was given.
 */
export async function migrate(given: RoleConfig<'migrate'>): Promise<number> {
  const config = await withSharedSecrets(given)
  await using parts = new AsyncDisposableStack()
  const context = oneShot('migrate', config, parts)
  const relational = openPostgres(context, config)
  const columnar = openClickHouse(context, config)
  await bringUpToDate(context, config, { relational, columnar }, async (secrets) => {
    if (config.bootstrap_project_key === undefined) print({ first_login: secrets })
  })
  print({ schema: 'current' })
  return 0
}

/** Makes the Secret of the first login where there is none, and does nothing else. */
export async function migrateSecret(config: RoleConfig<'migrate'>): Promise<number> {
  if (config.bootstrap_secret === undefined) {
    throw new ConfigError('LOOPTRACE_BOOTSTRAP_SECRET: missing, expected namespace/name')
  }
  await bootstrapSecret(config.bootstrap_secret, config.bootstrap_email)
  print({ secret: config.bootstrap_secret })
  return 0
}

/** What stands in the Secret wins over other settings. */
async function withSharedSecrets(config: RoleConfig<'migrate'>): Promise<RoleConfig<'migrate'>> {
  if (config.bootstrap_secret === undefined) {
    return { ...config, operator_key: await givenOperatorKey(config) }
  }
  const secrets = await bootstrapSecret(config.bootstrap_secret, config.bootstrap_email)
  print({ secret: config.bootstrap_secret })
  return {
    ...config,
    secret_key: secrets['secret-key'],
    bootstrap_email: secrets['admin-email'],
    bootstrap_password: secrets['admin-password'],
    bootstrap_project_id: secrets['project-id'],
    bootstrap_project_key: secrets['project-key'],
    operator_key: secrets['operator-key'],
  }
}

/** How far the schema of each store is; `error` says what keeps them from being current. */
export type SchemaCheck = {
  postgres: SchemaStatus
  clickhouse: SchemaStatus
  error: string | null
}

/** Compares both stores with this code's schema. Rejects when one gives no answer. */
export async function migrateCheck(config: RoleConfig<'migrate'>): Promise<SchemaCheck> {
  await using parts = new AsyncDisposableStack()
  const context = oneShot('migrate', config, parts)
  const { pool } = openPostgres(context, config)
  const columnar = openClickHouse(context, config)
  const stores = {
    postgres: await relationalSchemaStatus({ pool }).catch(nameThePostgres),
    clickhouse: await columnarSchemaStatus({ columnar }),
  }
  try {
    for (const status of Object.values(stores)) assertSchemaCurrent(status)
    return { ...stores, error: null }
  } catch (error) {
    if (!(error instanceof MigrationRefused)) throw error
    return { ...stores, error: error.message }
  }
}

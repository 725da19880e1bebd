import { columnarSchemaStatus } from '../platform/columnar/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { assertSchemaCurrent, MigrationRefused } from '../platform/migrations/index.ts'
import { relationalSchemaStatus } from '../platform/relational/index.ts'
import { oneShot, print } from './one-shot.ts'
import { bringUpToDate } from './schema.ts'
import { nameThePostgres, openClickHouse, openPostgres } from './stores.ts'

/** Brings both stores to the current schema and prints the first login where it makes one. */
export async function migrate(config: RoleConfig<'migrate'>): Promise<number> {
  await using parts = new AsyncDisposableStack()
  const context = oneShot('migrate', config, parts)
  const relational = openPostgres(context, config)
  const columnar = openClickHouse(context, config)
  await bringUpToDate(context, config, { relational, columnar }, async (secrets) => {
    print({ first_login: secrets })
  })
  print({ schema: 'current' })
  return 0
}

/** Exit status 0 when both stores are at this code's schema, 1 and the reason when they are not. */
export async function migrateCheck(config: RoleConfig<'migrate'>): Promise<number> {
  await using parts = new AsyncDisposableStack()
  const context = oneShot('migrate', config, parts)
  const { pool } = openPostgres(context, config)
  const columnar = openClickHouse(context, config)
  const stores = {
    postgres: await relationalSchemaStatus({ pool }).catch(nameThePostgres),
    clickhouse: await columnarSchemaStatus({ columnar }),
  }
  print(stores)
  try {
    for (const status of Object.values(stores)) assertSchemaCurrent(status)
    return 0
  } catch (error) {
    if (!(error instanceof MigrationRefused)) throw error
    print({ error: error.message })
    return 1
  }
}

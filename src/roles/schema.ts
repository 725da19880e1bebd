import { type BootstrapSecrets, bootstrap } from '../capabilities/access/index.ts'
import { type Columnar, migrateColumnar } from '../platform/columnar/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { migrateRelational, type Relational } from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'
import { nameThePostgres, postgresUrl, type Tables } from './stores.ts'

type SchemaConfig = Pick<
  RoleConfig<'migrate'>,
  | 'postgres_url'
  | 'clickhouse_cluster'
  | 'bootstrap_email'
  | 'bootstrap_password'
  | 'bootstrap_project_id'
  | 'bootstrap_project_key'
  | 'operator_key'
>

/**
 * Brings both stores to this code's schema and makes the first login where there is none; then
 * `deliver` gets its secrets, once, before they count. Many may do this at the same time.
 */
export async function bringUpToDate(
  context: Pick<RoleContext, 'logger' | 'clock' | 'stop'>,
  config: SchemaConfig,
  stores: { relational: Relational<Tables>; columnar: Columnar },
  deliver: (secrets: BootstrapSecrets) => Promise<void>,
): Promise<void> {
  const { logger, clock, stop } = context
  stop.throwIfAborted()
  await migrateRelational({ url: postgresUrl(config), logger }).catch(nameThePostgres)
  stop.throwIfAborted()
  await migrateColumnar({
    columnar: stores.columnar,
    ...(config.clickhouse_cluster !== undefined && { cluster: config.clickhouse_cluster }),
    logger,
  })
  stop.throwIfAborted()
  await bootstrap({
    db: stores.relational.db,
    clock,
    admin_email: config.bootstrap_email,
    admin_password: config.bootstrap_password,
    project_id: config.bootstrap_project_id,
    project_key: config.bootstrap_project_key,
    operator_key: config.operator_key,
    deliver,
  })
}

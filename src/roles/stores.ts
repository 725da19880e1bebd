import {
  type LedgerStore,
  type ObservationStore,
  openClickHouseLedgerStore,
  openClickHouseRecordStore,
  openClickHouseRetentionStore,
  openClickHouseStore,
  type RecordStore,
  type RetentionStore,
} from '../capabilities/storage/index.ts'
import {
  type ColumnarServer,
  checkCluster,
  columnarMeters,
  columnarSchemaStatus,
  openColumnar,
} from '../platform/columnar/index.ts'
import { ConfigError, type Settings } from '../platform/config/index.ts'
import type { HealthCheck } from '../platform/http/index.ts'
import { type Relational, relationalSchemaStatus, sql } from '../platform/relational/index.ts'
import { openPostgres, type Tables } from './postgres.ts'
import type { RoleContext } from './running.ts'

/** Limits of requests to ClickHouse in each process; further requests wait for a connection. */
const requestLimits = { request_timeout_ms: 30_000, connections_max: 10 }

/** Opens ClickHouse, measured or not. Closed when the role ends. */
export function openClickHouse(
  context: RoleContext,
  config: Settings<'columnar'>,
  meters?: ReturnType<typeof columnarMeters>,
): ColumnarServer {
  const columnar = openColumnar({
    url: clickHouseUrl(config),
    username: config.clickhouse_username,
    password: config.clickhouse_password ?? '',
    database: config.clickhouse_database,
    cluster: config.clickhouse_cluster,
    ...requestLimits,
    compression: false,
    logger: context.logger,
    ...(meters && { meters }),
  })
  context.parts.defer(() => columnar.close())
  return columnar
}

/** Opens both stores, and adds their readiness checks. */
export function openStores(
  context: RoleContext,
  config: Settings<'relational' | 'columnar'>,
): Stores {
  const relational = openPostgres(context, config)
  const columnar = openClickHouse(context, config, columnarMeters(context.metrics))
  context.checks.push(
    { name: 'postgres', check: () => relational.ping().then(() => null) },
    { name: 'clickhouse', check: async () => ((await columnar.ping()) ? null : 'no answer') },
    { name: 'schema', check: schemaCheck(relational, columnar, config.clickhouse_cluster) },
  )
  return {
    relational,
    db: relational.db,
    columnar,
    store: openClickHouseStore({ columnar }),
    records: openClickHouseRecordStore({ columnar }),
    ledger: openClickHouseLedgerStore({ columnar }),
    retention: openClickHouseRetentionStore({ columnar }),
  }
}

/**
 * Returns the stores whose reads are for people: routes of the API show their rows, and write nothing
 * because of them. The ledger and retention stay as they are, because they decide.
 */
export function forPeople<Given extends Stores>(stores: Given): Given {
  const { columnar } = stores
  const reads = columnar.forPeople()
  return {
    ...stores,
    columnar: { ...columnar, ...reads },
    store: openClickHouseStore({ columnar, reads }),
    records: openClickHouseRecordStore({ columnar, reads }),
  }
}

/**
 * Returns a check that both stores are migrated, and that the cluster is defined as the tables need
 * it. A newer schema is valid during a roll-out.
 */
function schemaCheck(
  relational: Relational<Tables>,
  columnar: ColumnarServer,
  cluster: string | undefined,
): HealthCheck['check'] {
  let isCurrent = false
  return async () => {
    if (isCurrent) return null
    const postgres = await relationalSchemaStatus(relational)
    const clickhouse = await columnarSchemaStatus({ columnar })
    const pending = [...postgres.pending, ...clickhouse.pending]
    if (pending.length > 0) return `run migrate for ${pending.join(', ')}`
    if (cluster !== undefined) await checkCluster(columnar, cluster)
    // Rejects for a login that bypasses row-level security.
    await sql`select 1`.execute(relational.db)
    isCurrent = true
    return null
  }
}

/** The opened stores. */
export type Stores = {
  relational: Relational<Tables>
  db: Relational<Tables>['db']
  columnar: ColumnarServer
  store: ObservationStore
  records: RecordStore
  ledger: LedgerStore
  retention: RetentionStore
}

function clickHouseUrl({ clickhouse_url }: Settings<'columnar'>): string {
  if (clickhouse_url !== undefined) return clickhouse_url
  throw new ConfigError('LOOPTRACE_CLICKHOUSE_URL: missing, expected http://host:8123')
}

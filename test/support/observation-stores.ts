import {
  type HotObservationStore,
  type ObservationStore,
  openClickHouseStore,
  openPostgresStore,
  type StoreCapabilities,
  storeCapabilities,
} from '../../src/capabilities/storage/index.ts'
import { openColumnar } from '../../src/platform/columnar/index.ts'
import {
  type HotTables,
  openRelational,
  type RelationalOptions,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { columnarOptions, migratedClickHouse, setMerges, testClickHouse } from './clickhouse.ts'
import { testPostgres } from './postgres.ts'

/** A store of observations for the contract suite. */
export type SuiteStore = {
  store: HotObservationStore
  /** The whole port, if the store has it. */
  rollups: ObservationStore | undefined
  /** The same store with an unavailable server. */
  unreachable: HotObservationStore
  capabilities: StoreCapabilities & {
    /** Whether versions of an observation are separate rows for a while. */
    versions_side_by_side: boolean
  }
  /** Rows of a project, including versions. */
  rowCount(project_id: string): Promise<number>
  close(): Promise<void>
}

async function openClickHouse(): Promise<SuiteStore> {
  const columnar = await migratedClickHouse(await testClickHouse('own'))
  // Versions must exist side by side until a test is done with them.
  // In a cluster owners are changed by mutations, which stop with the merges.
  if (columnar.cluster === undefined) await setMerges(columnar, 'observations', 'STOP')
  const away = openColumnar({
    ...columnarOptions({ ...(await testClickHouse()), url: 'http://127.0.0.1:1' }),
  })
  const store = openClickHouseStore({ columnar })
  return {
    store,
    rollups: store,
    unreachable: openClickHouseStore({ columnar: away }),
    capabilities: { ...storeCapabilities.clickhouse, versions_side_by_side: true },
    rowCount: async (project_id) => {
      const [row] = await columnar.query<{ rows: string }>(
        'SELECT count() AS rows FROM observations WHERE project_id = {project_id:UUID}',
        { project_id },
      )
      return Number(row?.rows)
    },
    close: async () => {
      await Promise.all([columnar.close(), away.close()])
    },
  }
}

async function openPostgres(): Promise<SuiteStore> {
  const options: RelationalOptions = {
    scope: allTenants,
    url: await testPostgres(),
    pool_max: 4,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 30_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  }
  const relational = openRelational<HotTables>(options)
  const away = openRelational<HotTables>({
    ...options,
    url: 'postgres://a:b@127.0.0.1:1/c',
  })
  let now_ms = Date.now()
  // Every insert is later than the one before.
  const clock = { now_ms: () => ++now_ms }
  return {
    store: openPostgresStore({ db: relational.db, clock }),
    rollups: undefined,
    unreachable: openPostgresStore({ db: away.db, clock }),
    capabilities: { ...storeCapabilities.postgres, versions_side_by_side: false },
    rowCount: async (project_id) => {
      const { rows } = await relational.pool.query(
        'select count(*)::int as rows from hot_observations where project_id = $1',
        [project_id],
      )
      return Number(rows[0].rows)
    },
    close: async () => {
      await Promise.all([relational.close(), away.close()])
    },
  }
}

/** Every store of observations and its declared capabilities. */
export const suiteStores = [
  { name: 'clickhouse', open: openClickHouse, capabilities: storeCapabilities.clickhouse },
  { name: 'postgres', open: openPostgres, capabilities: storeCapabilities.postgres },
] as const

import {
  openClickHouseRecordStore,
  openClickHouseStore,
  openHotRowWriter,
  openHotSource,
} from '../../src/capabilities/storage/index.ts'
import { changeRouting } from '../../src/capabilities/store-routing/change-routing.ts'
import type { QueryClass, StoreName } from '../../src/capabilities/store-routing/contract.ts'
import { createRoutingCache } from '../../src/capabilities/store-routing/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type AccessTables,
  type HotTables,
  type JobTables,
  openRelational,
  type RouteTables,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { migratedClickHouse, testClickHouse } from './clickhouse.ts'
import { testPostgres } from './postgres.ts'

type Tables = HotTables & JobTables & RouteTables & TaskTables & AccessTables

export type Wanted = {
  /** False: ClickHouse only. */
  postgres?: boolean
  hours?: number
  routes?: Partial<Record<QueryClass, StoreName>>
  fallback?: boolean
}

/** Both stores, empty, with the hot window's jobs and chores; the test controls the clock. */
export async function openHotWindow(given: { url?: string; now_ms?: number } = {}) {
  const url = given.url ?? (await testPostgres())
  const clickhouse = await testClickHouse()
  const columnar = await migratedClickHouse(clickhouse)
  const relational = openRelational<Tables>({
    scope: allTenants,
    url,
    pool_max: 8,
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 20_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  const clock = { at_ms: given.now_ms ?? Date.now(), now_ms: () => clock.at_ms }
  const { db, pool, scoped } = relational
  const routings = createRoutingCache({ db, clock })
  const organization_id = newId()
  await pool.query('insert into organizations (id, name) values ($1::uuid, $1::uuid::text)', [
    organization_id,
  ])
  return {
    url,
    clickhouse,
    columnar,
    clock,
    db,
    pool,
    scoped,
    store: openClickHouseStore({ columnar }),
    records: openClickHouseRecordStore({ columnar }),
    source: openHotSource({ columnar }),
    writer: openHotRowWriter(db),
    routings,
    /** Sets a project's routing, like PUT. */
    route: (project_id: string, wanted: Wanted = {}) => {
      const { postgres = true, hours = 24, routes = {}, fallback = true } = wanted
      routings.forget(project_id)
      return changeRouting(
        db,
        {
          project_id,
          write_stores: postgres ? ['clickhouse', 'postgres'] : ['clickhouse'],
          hot_window_hours: hours,
          routes: { point: 'auto', list: 'auto', aggregate: 'auto', explorer: 'auto', ...routes },
          fallback,
          updated_at: new Date(clock.at_ms).toISOString(),
          updated_by: `user:${newId()}`,
        },
        { version: undefined, requested_by: 'schedule', clock },
      )
    },
    /** Creates a project, so that its routing can be set. */
    newProject: async () => {
      const id = newId()
      await pool.query(
        'insert into projects (id, organization_id, name) values ($1::uuid, $2, $1::uuid::text)',
        [id, organization_id],
      )
      return id
    },
    /** Rows of a project in a table of the hot window. */
    rowsIn: async (table: 'hot_observations' | 'hot_traces', project_id: string) => {
      const { rows } = await pool.query(
        `select count(*)::int as rows from ${table} where project_id = $1`,
        [project_id],
      )
      return Number(rows[0].rows)
    },
    close: async () => {
      await Promise.all([columnar.close(), relational.close()])
    },
  }
}

export type HotWindow = Awaited<ReturnType<typeof openHotWindow>>

import { createRoutingCache } from '../../src/capabilities/observability/store-routing/index.ts'
import {
  openClickHouseRecordStore,
  openClickHouseStore,
  openHotRowWriter,
  openHotSource,
} from '../../src/capabilities/observability/stores/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type AccessTables,
  type HotTables,
  type JobTables,
  openRelational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { migratedClickHouse } from './clickhouse.ts'
import { testPostgres } from './postgres.ts'

type Tables = HotTables & JobTables & TaskTables & AccessTables

/** Both stores, empty, and what works on the hot window of the second; the clock is the test's. */
export async function openHotWindow(given: { url?: string; now_ms?: number } = {}) {
  const url = given.url ?? (await testPostgres())
  const columnar = await migratedClickHouse()
  const relational = openRelational<Tables>({
    url,
    pool_max: 8,
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 20_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  const clock = { at_ms: given.now_ms ?? Date.now(), now_ms: () => clock.at_ms }
  const { db, pool } = relational
  const organization_id = newId()
  await pool.query('insert into organizations (id, name) values ($1::uuid, $1::uuid::text)', [organization_id])
  return {
    url,
    columnar,
    clock,
    db,
    pool,
    store: openClickHouseStore({ columnar }),
    records: openClickHouseRecordStore({ columnar }),
    source: openHotSource({ columnar }),
    writer: openHotRowWriter(db),
    routings: createRoutingCache({ db, clock }),
    /** A project that exists, whose routing may be set. */
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

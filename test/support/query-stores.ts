import type { Dialect } from '../../src/capabilities/query/compile/dialect.ts'
import { clickhouse } from '../../src/capabilities/query/compile/dialects/clickhouse.ts'
import { postgres } from '../../src/capabilities/query/compile/dialects/postgres.ts'
import { namedParams, type Statement } from '../../src/capabilities/query/compile/statement.ts'
import {
  openClickHouseRecordStore,
  openClickHouseStore,
  openHotRowWriter,
  openPostgresStore,
} from '../../src/capabilities/storage/index.ts'
import { readTrace } from '../../src/capabilities/storage/row-format/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { TraceDraft } from '../../src/model/ingest-records.ts'
import type { Observation } from '../../src/model/observation.ts'
import { type HotTables, openRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { migratedClickHouse, setMerges, testClickHouse } from './clickhouse.ts'
import { testPostgres } from './postgres.ts'
import { rowsOf } from './records.ts'

/** An empty store with its compiler and runner, and a way to insert records. */
export type QueryStore = {
  dialect: Dialect
  run(statement: Statement): Promise<Record<string, unknown>[]>
  insert(observations: readonly Observation[]): Promise<void>
  insertTrace(trace: TraceDraft, message_id: string): Promise<void>
  close(): Promise<void>
}

/** ClickHouse with versions side by side. */
async function openClickHouse(): Promise<QueryStore> {
  const columnar = await migratedClickHouse(await testClickHouse('own'))
  for (const table of ['observations', 'traces', 'correlations']) {
    await setMerges(columnar, table, 'STOP')
  }
  const store = openClickHouseStore({ columnar })
  const records = openClickHouseRecordStore({ columnar })
  return {
    dialect: clickhouse,
    run: (statement) => columnar.query(statement.text, namedParams(statement)),
    insert: (observations) => store.insert(observations, { token: newId() }),
    insertTrace: (trace, message_id) =>
      records.insertRows('traces', rowsOf('traces', [trace], message_id), { token: newId() }),
    close: () => columnar.close(),
  }
}

async function openPostgres(): Promise<QueryStore> {
  const { db, pool, close } = openRelational<HotTables>({
    scope: allTenants,
    url: await testPostgres(),
    pool_max: 4,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 30_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  let now_ms = 1_790_000_000_000
  // Every insert is later than the one before.
  const clock = { now_ms: () => ++now_ms }
  const store = openPostgresStore({ db, clock })
  const writer = openHotRowWriter(db)
  return {
    dialect: postgres,
    run: async ({ text, params }) => (await pool.query(text, [...params])).rows,
    insert: (observations) => store.insert(observations, { token: '' }),
    insertTrace: (trace, message_id) => {
      const rows = rowsOf('traces', [trace], message_id).map((bytes) => ({
        row: readTrace(Buffer.from(bytes)),
        ingested_at_ms: clock.now_ms(),
      }))
      return writer.write('hot_traces', rows)
    },
    close,
  }
}

/** Opens each store. */
export const queryStores = { clickhouse: openClickHouse, postgres: openPostgres } as const

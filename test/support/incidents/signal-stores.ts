import {
  openSignals,
  type SignalOptions,
} from '../../../src/capabilities/incidents/signals/open-signals.ts'
import {
  openClickHouseLedgerStore,
  openClickHouseStore,
} from '../../../src/capabilities/storage/index.ts'
import { newId } from '../../../src/kernel/ids.ts'
import { systemClock } from '../../../src/kernel/time.ts'
import {
  type DetectionTables,
  type IncidentTables,
  type Kysely,
  openRelational,
  sql,
  type TaskTables,
  type VerificationTables,
} from '../../../src/platform/relational/index.ts'
import { createLogger } from '../../../src/platform/telemetry/index.ts'
import { allTenants } from '../all-tenants.ts'
import { migratedClickHouse, setMerges, testClickHouse } from '../clickhouse.ts'
import { testPostgres } from '../postgres.ts'
import { insertStored } from './insert-stored.ts'
import { entriesOf, observationsOf, type SignalData, taskRowsOf } from './signal-data.ts'

export type SignalStores = Awaited<ReturnType<typeof openSignalStores>>

/** Opens empty stores for signals. Versions of an observation remain side by side. */
export async function openSignalStores() {
  const columnar = await migratedClickHouse(await testClickHouse('own'))
  await setMerges(columnar, 'observations', 'STOP')
  const logger = createLogger({ role: 'test', level: 'silent' })
  const relational = openRelational<TaskTables & DetectionTables & IncidentTables>({
    scope: allTenants,
    url: await testPostgres(),
    ...{ pool_max: 6, connect_timeout_ms: 5_000, statement_timeout_ms: 30_000 },
    logger,
  })
  const ledger = openClickHouseLedgerStore({ columnar })
  const observations = openClickHouseStore({ columnar })
  const queue = {
    oldestAgeMs: async () => 0,
    stats: async () => ({ pending: 0, pending_bytes: 0, dead: 0, oldest_age_ms: 0 }),
  }
  const options: SignalOptions = {
    ...{ relational, columnar, ledger, queue },
    ...{ clock: systemClock, logger },
  }
  return {
    ...{ columnar, relational, ledger, observations, options },
    signals: openSignals(options),
    /** Stores the rows of a project, earlier versions first. */
    store: async (project_id: string, data: SignalData) => {
      for (const batch of observationsOf(project_id, data)) await insertStored(columnar, batch)
      const { tasks, findings, runs } = taskRowsOf(project_id, data)
      if (tasks.length > 0) {
        await relational.db
          .insertInto('tasks')
          .values(tasks as never)
          .execute()
      }
      if (findings.length > 0) {
        await relational.db
          .insertInto('findings')
          .values(findings as never)
          .execute()
      }
      if (runs.length > 0) {
        const db = relational.db as unknown as Kysely<VerificationTables>
        await addProject(db, project_id)
        await db
          .insertInto('verification_runs')
          .values(runs as never)
          .execute()
      }
      await ledger.insertEntries(entriesOf(project_id, data), { token: newId() })
    },
    close: () => Promise.all([columnar.close(), relational.close()]),
  }
}

/** Verifications belong to a project that exists. */
async function addProject(db: Kysely<VerificationTables>, id: string): Promise<void> {
  await sql`insert into organizations (id, name) values (${id}, ${id})`.execute(db)
  await sql`insert into projects (id, organization_id, name) values (${id}, ${id}, ${id})`.execute(
    db,
  )
}

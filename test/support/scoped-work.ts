import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import type { IncidentDb } from '../../src/capabilities/incidents/ports.ts'
import {
  openClickHouseLedgerStore,
  openClickHouseRecordStore,
  openClickHouseRetentionStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import { loadConfig } from '../../src/platform/config/index.ts'
import { openSqliteQueue } from '../../src/platform/queue/index.ts'
import { openRelational } from '../../src/platform/relational/index.ts'
import { runInProject } from '../../src/platform/tenancy/index.ts'
import type { Tables } from '../../src/roles/postgres.ts'
import { oneShotContext } from '../../src/roles/running.ts'
import { migratedClickHouse } from './clickhouse.ts'
import { addRule, transit } from './incident-bench.ts'
import { loudRule } from './incident-records.ts'
import { testPostgres } from './postgres.ts'
import { ScopeRecorder } from './scope-recorder.ts'
import { type RowValues, seedRows, tenantOf } from './tenant-rows.ts'

/** Two projects of two organizations. */
export const tenants = [tenantOf('ours', 'a'), tenantOf('theirs', 'b')] as const

/** The stores of a worker, whose statements are recorded and refused without a scope. */
export async function openRecordedStores() {
  const parts = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'looptrace-scopes-'))
  parts.defer(() => rm(folder, { recursive: true, force: true }))
  const postgres_url = await testPostgres()
  const config = loadConfig('worker', {
    LOOPTRACE_POSTGRES_URL: postgres_url,
    LOOPTRACE_LOG_LEVEL: 'fatal',
    LOOPTRACE_SECRET_KEY: 'a secret of at least 32 characters',
    LOOPTRACE_BLOBS_URL: pathToFileURL(folder).href,
    LOOPTRACE_AUDIT_DAYS: '30',
    LOOPTRACE_ARCHIVE_SETTLE_MS: '0',
  })
  const context = oneShotContext('test', config, parts)
  const recorder = new ScopeRecorder()
  const limits = { pool_max: 10, connect_timeout_ms: 10_000, statement_timeout_ms: 30_000 }
  const opened = openRelational<Tables>({ url: postgres_url, ...limits, logger: context.logger })
  parts.defer(() => opened.close())
  const columnar = await migratedClickHouse()
  parts.defer(() => columnar.close())
  const queue = await openSqliteQueue({
    ...{ path: join(folder, 'queue.sqlite'), bytes_max: 100_000_000, logger: context.logger },
  })
  parts.defer(() => queue.close())
  const admin = new pg.Client({ connectionString: postgres_url })
  await admin.connect()
  parts.defer(() => admin.end())
  const db = opened.db.withPlugin(recorder)
  const stores = {
    ...{ relational: { ...opened, db }, db, columnar, queue },
    store: openClickHouseStore({ columnar }),
    records: openClickHouseRecordStore({ columnar }),
    ledger: openClickHouseLedgerStore({ columnar }),
    retention: openClickHouseRetentionStore({ columnar }),
  }
  return { config, context, recorder, stores, admin, unrecorded: opened.db, parts }
}

const past = '2026-01-01T00:00:00Z'
const now = () => new Date().toISOString()
const today = () => String(Math.floor(Date.now() / 86_400_000))

/** A row for the work of each chore, in tables that several chores read. */
function dueRows(): (readonly [table: string, given: RowValues])[] {
  return [
    ['organizations', {}],
    ['projects', {}],
    ['tasks', { task_id: 'quiet', last_activity_at: now() }],
    ['feedback_tasks', { task_id: 'unseen', look_at: past, expires_at: past }],
    ['feedback_tasks', { task_id: 'rated' }],
    ['rated_tasks_due', { task_id: 'rated' }],
    ['retention_policies', { next_run_at: past, ...scheduledArchive }],
    ['store_routing', { write_stores: '{postgres}', hot_window_hours: '24' }],
    ['hot_coverage', {}],
    ['hot_gaps', { day: today() }],
    ['restored_slices', { state: 'ending' }],
    ['job_runs', { kind: 'archive', state: 'failed', ended_at: past }],
    ['archive_files', {}],
    ['verification_runs', { state: 'pending', task_id: 'quiet' }],
    ['verification_policies', { policy: '{"enabled": true}' }],
    ['certifications', { state: 'pending', window_to: past }],
    ['audit_chains', { seq: '5', checkpoint_seq: '0' }],
    ['audit_read_batches', { reads: '[]' }],
  ]
}

const scheduledArchive = {
  archive: '{"enabled": true, "schedule": "0 0 * * *", "after_days": 1}',
  archive_since: past,
  archive_due_at: past,
}

/** Stores what is due for each chore, and an incident with a message, in both projects. */
export async function seedDueWork(admin: pg.Client, db: IncidentDb): Promise<void> {
  for (const tenant of tenants) await seedRows(admin, [tenant], dueRows())
  for (const { project_id } of tenants) {
    await runInProject(project_id, async () => {
      await addRule(db, project_id, loudRule())
      await transit(db, project_id, { type: 'fired', minute: 0, rule: loudRule() })
    })
  }
}

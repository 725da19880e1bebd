import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  accessRoutes,
  authorizer,
  bootstrap,
  createPasswordHasher,
  openAccess,
} from '../../src/capabilities/access/index.ts'
import { openAuditTrail, openReadJournal } from '../../src/capabilities/audit/index.ts'
import { sealReads } from '../../src/capabilities/audit/reads/seal-reads.ts'
import { toUnsealed } from '../../src/capabilities/audit/reads/unsealed-reads.ts'
import { chainOf } from '../../src/capabilities/audit/trail/chain-id.ts'
import {
  chooseByEntity,
  openClickHouseRunner,
  openPostgresRunner,
  openQueries,
  queryRoutes,
} from '../../src/capabilities/query/index.ts'
import {
  openClickHouseRecordStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import { taskRoutes } from '../../src/capabilities/tasks/index.ts'
import { traceRoutes } from '../../src/capabilities/traces/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { AuditEntry } from '../../src/model/audit-entry.ts'
import type { AuditTrail } from '../../src/platform/audit/index.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  type AuditTables,
  CompiledQuery,
  type DetectionTables,
  type Kysely,
  migrateRelational,
  openIdempotencyStore,
  openRelational,
  startEmbeddedPostgres,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../../test/support/all-tenants.ts'
import { querySettings } from '../../test/support/query-api.ts'
import { startBenchEngine } from '../store/engine.ts'
import { type Caller, startCaller } from './caller.ts'
import { insertContents } from './contents.ts'

type Tables = AccessTables & AuditTables & TaskTables & DetectionTables

/**
 * How a server records calls: not at all, as the service does, or with a statement for each read of
 * content instead of the journal.
 */
export type Variant = 'none' | 'audited' | 'inserted'

/** Servers of the same routes on the same stores, one for each variant. */
export type BenchService = {
  origins: Record<Variant, string>
  /** Projects of one organization; the first has the contents. */
  project_ids: string[]
  /** As many projects, each in an organization of its own. */
  spread_ids: string[]
  /** Tasks with content; the trace of a task has the same position. */
  task_ids: string[]
  trace_ids: string[]
  /** Calls as a signed-in person. */
  caller: Caller
  /** Stores the reads of the journal, as the service does twice a second by itself. */
  flush(): Promise<void>
  /** Seals the stored reads, as a worker does each second. */
  seal(): Promise<void>
  postgres_pid: number
  /** Processor time of ClickHouse so far. */
  clickhouse_ms(): Promise<number>
  stop(): Promise<void>
}

const logger = createLogger({ role: 'bench', level: 'silent' })
const clock = systemClock
const projects = 20

export async function startBenchService(): Promise<BenchService> {
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-audit-'))
  // Under root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(directory, 0o711)
  const postgres = await startEmbeddedPostgres({ directory: join(directory, 'postgres'), logger })
  await migrateRelational({ url: postgres.url, logger })
  const engine = await startBenchEngine()
  const limits = { pool_max: 16, connect_timeout_ms: 5_000, statement_timeout_ms: 10_000 }
  const relational = openRelational<Tables>({
    scope: allTenants,
    url: postgres.url,
    ...limits,
    logger,
  })
  const { db } = relational
  const passwords = createPasswordHasher({ cost_log2: 4 })
  const first = await bootstrap({ db, clock, passwords })
  if (first === null) throw new Error('the database is not empty')
  const access = openAccess({
    db,
    clock,
    logger,
    passwords,
    secret_key: 'a secret of at least 32 characters',
  })
  const store = openClickHouseStore({ columnar: engine.columnar })
  const { project_id } = first
  const contents = await insertContents({ db, store, project_id })
  const queries = openQueries({
    runners: {
      clickhouse: openClickHouseRunner({ columnar: engine.columnar, logger }),
      postgres: openPostgresRunner(relational),
    },
    chooseStore: chooseByEntity,
    onServed: () => undefined,
    logger,
    metrics: createMetrics(),
    settings: querySettings,
    slots: { running_max: 100, waiting_max: 200 },
  })
  const routes = [
    ...accessRoutes(access),
    ...taskRoutes({ db, store, clock }),
    ...traceRoutes({
      records: openClickHouseRecordStore({ columnar: engine.columnar }),
      queries,
      findings: async () => [],
    }),
    ...queryRoutes(queries),
  ]
  const folder = join(directory, 'audit-reads')
  const journal = await openReadJournal({ db, folder, logger, metrics: createMetrics() })
  const audited = openAuditTrail(db, journal)
  const inserted = { ...audited, storeRead: (entry: AuditEntry) => insertRead(db, entry) }
  const open = (audit?: AuditTrail): Promise<HttpServer> =>
    createHttpServer({
      routes,
      authorize: authorizer(access),
      idempotency: openIdempotencyStore(db),
      ...(audit && { audit }),
      logger,
      metrics: createMetrics(),
      clock,
      body_bytes_max: 1_000_000,
      header_bytes_max: 16_384,
      rate_per_minute_max: 0,
      request_timeout_ms: 5_000,
      keep_alive_ms: 60_000,
    })
  const servers = {
    none: await open(),
    audited: await open(audited),
    inserted: await open(inserted),
  }
  const signedIn = await servers.none.inject({
    method: 'POST',
    url: '/api/v1/auth/token',
    payload: {
      grant_type: 'password',
      username: first.admin_email,
      password: first.admin_password,
    },
  })
  const authorization = `Bearer ${signedIn.json().access_token}`
  const headers = { authorization, 'x-project-id': project_id }
  const create = async (url: string, name: string): Promise<string> => {
    const payload = { name }
    const made = await servers.none.inject({ method: 'POST', url, headers, payload })
    if (made.statusCode !== 201) throw new Error(made.payload)
    return made.json().id
  }
  const organizations = '/api/v2/access/organizations'
  const project_ids = [project_id]
  const spread_ids: string[] = []
  for (let at = 1; at <= projects; at += 1) {
    const own = `${organizations}/${first.organization_id}/projects`
    if (at < projects) project_ids.push(await create(own, `project ${at}`))
    const organization_id = await create(organizations, `organization ${at}`)
    spread_ids.push(await create(`${organizations}/${organization_id}/projects`, 'project'))
  }
  const originOf = async (server: HttpServer) =>
    `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`
  const caller = startCaller(headers)
  return {
    origins: {
      none: await originOf(servers.none),
      audited: await originOf(servers.audited),
      inserted: await originOf(servers.inserted),
    },
    project_ids,
    spread_ids,
    ...contents,
    caller,
    flush: () => journal.flush(),
    seal: async () => {
      await sealReads(db, clock)
    },
    postgres_pid: postgres.pid,
    clickhouse_ms: () => engine.cpu_ms(),
    stop: async () => {
      await caller.stop()
      await Promise.all(Object.values(servers).map((server) => server.close()))
      await journal.close()
      await access.close()
      await relational.close()
      await postgres.stop()
      await engine.stop()
      await rm(directory, { recursive: true })
    },
  }
}

/** Stores a read in PostgreSQL while its call is handled. The answer waits for the commit. */
async function insertRead(db: Kysely<AuditTables>, entry: AuditEntry): Promise<void> {
  const reads = JSON.stringify([toUnsealed(entry)])
  const values = [newId(), chainOf(entry.organization_id), reads]
  await db.executeQuery(CompiledQuery.raw('select store_audit_reads($1, $2, 1, $3)', values))
}

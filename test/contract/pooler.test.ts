import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dropPartitions, makePartition } from '../../src/capabilities/storage/postgres/retention.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type AuditTables,
  type HotTables,
  migrateRelational,
  openRelational,
  prepared,
  readBounded,
  sql,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { runInInstallation, runInProject } from '../../src/platform/tenancy/index.ts'
import { startAccessApp } from '../support/access-app.ts'
import { eventually } from '../support/eventually.ts'
import { noPgBouncer, type PgBouncer, pgBouncerPath, startPgBouncer } from '../support/pgbouncer.ts'
import { testPostgres } from '../support/postgres.ts'

/** The service behind PgBouncer, with fewer connections to the server than clients. */
const logger = createLogger({ role: 'test', level: 'silent' })
const clients = 8
const locksOfDatabase = `select 1 from pg_locks where locktype = 'advisory'
  and database = (select oid from pg_database where datname = current_database())`
let path: string | undefined
beforeAll(async () => {
  path = await pgBouncerPath()
}, 300_000)
beforeEach(({ skip }) => skip(path === undefined, noPgBouncer))

describe.each([
  { mode: 'transaction', pool_size: 3 },
  { mode: 'session', pool_size: 30 },
] as const)('PgBouncer in $mode mode', ({ mode, pool_size }) => {
  let server_url: string
  let pooler: PgBouncer
  beforeAll(async () => {
    if (path === undefined) return
    server_url = await testPostgres()
    pooler = await startPgBouncer(path, { server_url, mode, pool_size })
  })
  afterAll(async () => pooler?.[Symbol.asyncDispose]())

  const open = <DB>(url: string, statement_timeout_ms = 10_000) => {
    const limits = { pool_max: clients, connect_timeout_ms: 10_000, statement_timeout_ms }
    const store = openRelational<DB>({ url, ...limits, logger })
    return { ...store, [Symbol.asyncDispose]: () => store.close() }
  }
  /** The address of another database behind the pooler. */
  const behind = (database_url: string) => {
    const url = new URL(pooler.url)
    url.pathname = new URL(database_url).pathname
    return url.href
  }

  test('each transaction has its own scope, and leaves none behind', async () => {
    await using store = open<unknown>(pooler.url)
    const settings = sql<{ project: string; role: string }>`
      select current_setting('looptrace.project_id', true) as project, current_user as role`
    const work = Array.from({ length: 400 }, (_, at) => async () => {
      const project_id = newId()
      const { rows } = await runInProject(project_id, () =>
        at % 2 === 0
          ? settings.execute(store.db)
          : store.db.transaction().execute(async (trx) => {
              await settings.execute(trx)
              return settings.execute(trx)
            }),
      )
      const { rows: left } = await store.pool.query(settings.compile(store.db).sql)
      return { project_id, rows, left }
    })
    const login = new URL(server_url).username
    for (const { project_id, rows, left } of await Promise.all(work.map((run) => run()))) {
      expect(rows).toEqual([{ project: project_id, role: 'looptrace_app' }])
      expect({ ...left[0], project: left[0].project ?? '' }).toEqual({ project: '', role: login })
    }
  })

  test('a statement that sessions keep is not kept, and runs in any session', async () => {
    await using store = open<unknown>(pooler.url)
    const double = (db: typeof store.db, of: number) =>
      sql<{ result: number }>`select ${of}::int * 2 as result`.execute(prepared(db, 'double'))
    const work = Array.from({ length: 200 }, async (_, at) => {
      const run = () =>
        at % 2 === 0
          ? double(store.db, at)
          : store.db.transaction().execute((trx) => double(trx, at))
      expect((await runInProject(newId(), run)).rows).toEqual([{ result: 2 * at }])
    })
    await Promise.all(work)
  })

  test('the server ends a statement over the time limit, alone and in a transaction', async () => {
    await using store = open<unknown>(pooler.url, 200)
    const slow = sql`select pg_sleep(30)`
    const over = { code: 'store_unavailable', cause: { code: '57014' } }
    await runInProject(newId(), async () => {
      await expect(slow.execute(store.db)).rejects.toMatchObject(over)
      const transaction = store.db.transaction().execute((trx) => slow.execute(trx))
      await expect(transaction).rejects.toMatchObject(over)
    })
  })

  test('an aborted read is cancelled on the server', async () => {
    await using store = open<unknown>(pooler.url)
    await using direct = open<unknown>(server_url)
    const name = `looptrace query ${newId()}`
    const running = async () => {
      const text = `select 1 from pg_stat_activity where application_name = $1 and state = 'active'`
      return (await direct.pool.query(text, [name])).rows.length > 0
    }
    const aborting = new AbortController()
    const read = runInProject(newId(), () =>
      readBounded(store.scoped, {
        ...{ text: 'select pg_sleep(20)', params: [], name, time_ms_max: 20_000 },
        ...{ signal: aborting.signal, cancel_through: store.pool },
      }),
    )
    const ended = expect(read).rejects.toThrow('given up')
    await eventually('it runs', running)
    aborting.abort(new Error('given up'))
    await ended
    expect(await running()).toBe(false)
  })

  test('concurrent migrators migrate an empty database once', async () => {
    const empty = await testPostgres('empty')
    const url = behind(empty)
    const applied: string[] = []
    const after_statement = ({ migration, statement }: { migration: string; statement: number }) =>
      void applied.push(`${migration} ${statement}`)
    const runs = await Promise.all(
      [1, 2].map(() => migrateRelational({ url, logger, after_statement })),
    )
    expect(runs[0]?.pending).toEqual([])
    expect(runs[1]).toEqual(runs[0])
    expect(new Set(applied).size).toBe(applied.length)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(
      `select coalesce(current_setting('looptrace.scope', true), '') as scope`,
    )
    expect(rows).toEqual([{ scope: '' }])
    // The server ends the connection with the lock a moment later.
    await eventually('no lock is left', async () => {
      const left = await client.query(locksOfDatabase)
      return left.rows.length === 0
    })
    await client.end()
  })

  test('partitions are made, and dropped under the lock of hot windows', async () => {
    await using store = open<HotTables>(pooler.url)
    const partitions = async () => {
      const { rows } = await store.pool.query(
        `select 1 from pg_inherits where inhparent = 'hot_traces'::regclass`,
      )
      return rows.length
    }
    await Promise.all(
      [20_000, 20_001, 20_001].map((day) => makePartition(store.db, { table: 'hot_traces', day })),
    )
    expect(await partitions()).toBe(2)
    const locks = async () => {
      const { rows } = await store.pool.query(locksOfDatabase)
      return rows.length
    }
    const dropped = await dropPartitions(store.db, async () => {
      expect(await locks()).toBe(1)
      return 20_001
    })
    expect(dropped).toEqual(['hot_traces_20241004'])
    expect([await partitions(), await locks()]).toEqual([1, 0])
  })

  test('the API records its changes in the audit chain', async () => {
    const app = await startAccessApp({ database_url: behind(await testPostgres()) })
    try {
      const { admin_email, admin_password, project_id } = app.first
      const token = await app.signIn(admin_email, admin_password)
      const keys = `/api/v2/access/projects/${project_id}/api-keys`
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          app.call('POST', keys, { token, body: { name: `key ${at}`, scopes: ['traces:read'] } }),
        ),
      )
      expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
      const { db } = app.relational as unknown as { db: ReturnType<typeof open<AuditTables>>['db'] }
      const recorded = await runInInstallation('a test', () =>
        db.selectFrom('audit_records').select('seq').where('action', '=', 'createApiKey').execute(),
      )
      expect(recorded).toHaveLength(20)
      const { body } = await app.call('GET', '/api/v2/audit/verify', { token })
      expect(body).toMatchObject({ valid: true, faults: [] })
    } finally {
      await app.close()
    }
  })
})

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  migrateRelational,
  openRelational,
  partitionPolicy,
  type Relational,
  sql,
  tablesWithoutPolicy,
} from '../../src/platform/relational/index.ts'
import { preludeOf } from '../../src/platform/relational/scoped-pool.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import {
  currentScope,
  runInProject,
  runInProjects,
  type TenantScope,
} from '../../src/platform/tenancy/index.ts'
import { testPostgres } from '../support/postgres.ts'
import {
  insertText,
  type SeededTable,
  seedEveryTable,
  type Tenant,
  tenantOf,
} from '../support/tenant-rows.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
const limits = { pool_max: 1, connect_timeout_ms: 10_000, statement_timeout_ms: 10_000, logger }
const [ours, theirs] = [tenantOf('ours', 'a'), tenantOf('theirs', 'b')]

const scopes: Record<string, TenantScope | undefined> = {
  'without a scope': undefined,
  'in another project': { kind: 'project', project_id: theirs.project_id },
  'in another project with its organization': {
    kind: 'project',
    project_id: theirs.project_id,
    organization_id: theirs.organization_id,
  },
  'in another organization': {
    kind: 'organization',
    organization_id: theirs.organization_id,
  },
  'in a batch of other projects': { kind: 'projects', project_ids: [theirs.project_id] },
}

/** Opens a client that is closed after the tests. */
async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  closing.push(() => client.end())
  return client
}
const closing: (() => Promise<void>)[] = []
afterAll(() => Promise.all(closing.map((close) => close())))

/** Runs a statement in a scope as the service does, and takes it back. */
async function within(
  { client, role }: { client: pg.Client; role: string },
  scope: TenantScope | undefined,
  text: string,
): Promise<pg.QueryResult> {
  const { text: prelude, values } = preludeOf(scope, role)
  await client.query('begin')
  try {
    await client.query(prelude, [...(values ?? [])])
    return await client.query(text)
  } finally {
    await client.query('rollback')
  }
}

/** A new login, which owns a migrated database of its own, and the superuser's address of it. */
async function ownerDatabase(options: string): Promise<{ url: string; admin_url: string }> {
  const admin_url = await testPostgres('empty')
  const login = `owner_${new URL(admin_url).pathname.slice(1)}`
  const admin = await connect(admin_url)
  await admin.query(`create role ${login} login password 'secret' ${options}`)
  await admin.query(`alter schema public owner to ${login}`)
  const own = new URL(admin_url)
  own.username = login
  own.password = 'secret'
  await migrateRelational({ url: own.href, logger })
  return { url: own.href, admin_url }
}

test('every table has a forced policy, or is listed without one', async () => {
  const client = await connect(await testPostgres())
  const { rows } = await client.query<{ name: string; has_policy: boolean }>(
    `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity
       and exists (select from pg_policy p where p.polrelid = c.oid) as has_policy
     from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`,
  )
  const open = rows.filter(({ has_policy }) => !has_policy).map(({ name }) => name)
  const listed = Object.keys(tablesWithoutPolicy).filter((name) => name !== 'data_moves')
  expect(open.toSorted()).toEqual(listed.toSorted())
  expect(rows.length).toBeGreaterThan(100)
})

test('a run of the migrations keeps the policies that do not differ', async () => {
  const url = await testPostgres()
  const client = await connect(url)
  const policies = async () =>
    (await client.query('select oid, polrelid::regclass as name from pg_policy order by oid')).rows
  const before = await policies()
  expect(before.length).toBeGreaterThan(80)
  await migrateRelational({ url, logger })
  expect(await policies()).toEqual(before)
})

/** The statement that appends a record to a chain. */
const appendText = (chain: string) =>
  `select append_audit_record('a', '${chain}', now(), 'a', 'succeeded', null, 'user', null, 'api',
    'a', null, null, 'a', 0, null, null, null, null, null, null, null, null) as seq`

test('a table of a later migration gets a policy, and one without a tenant is found', async () => {
  const url = await testPostgres()
  const client = await connect(url)
  await client.query('create table later (project_id uuid not null, n int)')
  await migrateRelational({ url, logger })
  const { rows } = await client.query(
    `select polname, relforcerowsecurity as forced from pg_policy
     join pg_class on pg_class.oid = polrelid where relname = 'later'`,
  )
  expect(rows).toEqual([{ polname: 'tenant', forced: true }])
})

describe.each([
  { login: 'the superuser, who switches to the role', role: 'looptrace_app', isOwner: false },
  { login: 'the owner of the tables, who may not switch', role: 'none', isOwner: true },
])('every table, for $login', ({ role, isOwner }) => {
  let client: pg.Client
  let admin: pg.Client
  let tables: SeededTable[]
  beforeAll(async () => {
    const own = isOwner ? await ownerDatabase('nosuperuser') : undefined
    const url = own?.url ?? (await testPostgres())
    admin = await connect(own?.admin_url ?? url)
    client = await connect(url)
    tables = await seedEveryTable(admin, [ours, theirs], Object.keys(tablesWithoutPolicy))
  })

  const rowsOf = async (tenant: Tenant, scope: TenantScope | undefined, table: string) => {
    const { rows } = await within({ client, role }, scope, `select t::text as row from ${table} t`)
    return rows.filter(({ row }) => isOf(tenant, row)).length
  }
  const isOf = ({ name, organization_id, project_id, row_id }: Tenant, row: string) =>
    [`text of ${name}`, organization_id, project_id, row_id].some((mark) => row.includes(mark))

  test('has a row of each tenant, which its own scope reads', async () => {
    expect(tables.length).toBeGreaterThan(80)
    const unread: string[] = []
    const { project_id, organization_id } = ours
    const scope = { kind: 'project', project_id, organization_id } as const
    for (const { name } of tables) {
      if ((await rowsOf(ours, scope, name)) !== 1) unread.push(name)
    }
    expect(unread).toEqual([])
  })

  test('a service of an earlier version, which gives no chain, appends during an upgrade', async () => {
    const { project_id, organization_id } = ours
    for (const settings of [{ project_id }, { organization_id }]) {
      await client.query(`begin; set local role ${role}`)
      for (const [name, id] of Object.entries(settings)) {
        await client.query(`set local looptrace.${name} = '${id}'`)
      }
      try {
        const { rows } = await client.query(appendText(organization_id))
        expect(Number(rows[0]?.seq)).toBeGreaterThan(0)
        const other = client.query(appendText(theirs.organization_id))
        await expect(other).rejects.toMatchObject({ code: '42501' })
      } finally {
        await client.query('rollback')
      }
    }
  })

  test('a project appends to the chain of its organization only', async () => {
    const append = (scope: TenantScope, chain: string) =>
      within({ client, role }, scope, appendText(chain)).then(
        ({ rows }) => Number(rows[0]?.seq),
        (error: unknown) => (isRefused(error) ? 'refused' : error),
      )
    const { project_id, organization_id } = ours
    const unknown = '00000000-0000-4000-8000-000000000000'
    for (const scope of [
      { kind: 'project', project_id },
      { kind: 'project', project_id, organization_id },
      { kind: 'organization', organization_id },
    ] as const) {
      expect(await append(scope, organization_id)).toBeGreaterThan(0)
      expect(await append(scope, theirs.organization_id)).toBe('refused')
      expect(await append(scope, unknown)).toBe('refused')
    }
    const batch = { kind: 'projects', project_ids: [project_id] } as const
    expect(await append(batch, organization_id)).toBe('refused')
    const gone = { kind: 'project', project_id: unknown } as const
    expect(await append(gone, organization_id)).toBe('refused')
  })

  test.each(Object.entries(scopes))('%s shows and changes none of its rows', async (_, scope) => {
    const leaks: string[] = []
    for (const table of tables) {
      const name = pg.escapeIdentifier(table.name)
      const column = pg.escapeIdentifier(table.columns[0]?.name ?? '')
      if ((await rowsOf(ours, scope, name)) > 0) leaks.push(`${table.name}: read`)
      const others = await rowsOf(theirs, scope, name)
      const run = (text: string) => within({ client, role }, scope, text)
      const updated = await run(`update ${name} set ${column} = ${column}`)
      if (updated.rowCount !== others) leaks.push(`${table.name}: update ${updated.rowCount}`)
      // A cascade into tables that the scope may not write is refused as a whole.
      const deleted = await run(`delete from ${name}`).catch((error: unknown) => {
        if (isRefused(error)) return { rowCount: others }
        throw error
      })
      if (deleted.rowCount !== others) leaks.push(`${table.name}: delete ${deleted.rowCount}`)
      const inserted = await run(insertText(table, ours)).catch((error: unknown) => error)
      if (!isRefused(inserted)) leaks.push(`${table.name}: insert ${inserted}`)
    }
    expect(leaks).toEqual([])
  })

  test('a batch reads rows of its projects in the tables that batches write', async () => {
    const scope = { kind: 'projects', project_ids: [ours.project_id, theirs.project_id] } as const
    const read: string[] = []
    for (const { name } of tables) {
      const rows = [await rowsOf(ours, scope, name), await rowsOf(theirs, scope, name)]
      if (rows.some((count) => count > 0)) read.push(`${name} ${rows}`)
    }
    const batchTables = ['conversations', 'erased_traces', 'erasure_keys', 'erasures']
    batchTables.push('feedback_tasks', 'ingest_request_messages', 'ingest_requests')
    batchTables.push('large_rollups', 'recent_links', 'recent_responses', 'recent_traces')
    batchTables.push('review_labels')
    batchTables.push('task_detections', 'task_events', 'tasks')
    expect(read).toEqual(batchTables.map((name) => `${name} 1,1`))
  })

  const isRefused = (error: unknown) =>
    error instanceof Error && 'code' in error && error.code === '42501'

  test('a partition cannot be read directly', async () => {
    for (const statement of partitionPolicy('hot_traces_rest')) await admin.query(statement)
    for (const scope of Object.values(scopes)) {
      const read = within({ client, role }, scope, 'select * from hot_traces_rest')
      const found = await read.then(
        ({ rows }) => rows.length,
        (error: Error) => error.message,
      )
      expect([0, 'permission denied for table hot_traces_rest']).toContain(found)
    }
  })
})

describe('a pooled connection', () => {
  let store: Relational<{ organizations: { id: string } }>
  beforeAll(async () => {
    store = openRelational({ url: await testPostgres(), ...limits })
    closing.push(() => store.close())
  })
  const inOurs = <T>(work: () => T) => runInProject(ours.project_id, work)
  const settings = () =>
    sql<Record<string, string>>`select current_setting('looptrace.project_id', true) as project,
      current_setting('looptrace.scope', true) as scope, current_user as role`
  const left = async () => {
    const { rows } = await store.pool.query(settings().compile(store.db).sql)
    return { ...rows[0], project: rows[0].project ?? '', scope: rows[0].scope ?? '' }
  }
  const clean = { project: '', scope: '', role: 'looptrace' }

  test('has the scope in a statement and in a transaction, and not after them', async () => {
    const own = { project: ours.project_id, scope: 'project', role: 'looptrace_app' }
    expect((await inOurs(() => settings().execute(store.db))).rows).toEqual([own])
    expect(await left()).toEqual(clean)
    const inside = await inOurs(() =>
      store.db.transaction().execute(async (trx) => {
        await settings().execute(trx)
        return (await settings().execute(trx)).rows
      }),
    )
    expect(inside).toEqual([own])
    expect(await left()).toEqual(clean)
  })

  test('has the projects of a batch, and not those of the batch in another scope', async () => {
    const batch = [ours.project_id, theirs.project_id]
    const ids = async (trx: typeof store.db) => {
      const query = sql<{ ids: string[] | null }>`select looptrace_project_ids() as ids`
      return (await query.execute(trx)).rows[0]?.ids ?? null
    }
    const read = await runInProjects(batch, () =>
      store.db
        .transaction()
        .execute(async (trx) => [await ids(trx), await inOurs(() => ids(trx)), await ids(trx)]),
    )
    expect(read).toEqual([batch, null, batch])
    expect(await runInProjects([ours.project_id, ours.project_id], () => currentScope())).toEqual({
      kind: 'project',
      project_id: ours.project_id,
    })
  })

  test('loses it after an error, a rollback, a savepoint or a cancelled statement', async () => {
    const broken = sql`select 1 / 0`
    await expect(inOurs(() => broken.execute(store.db))).rejects.toMatchObject({ code: '22012' })
    expect(await left()).toEqual(clean)
    const transaction = inOurs(() => store.db.transaction().execute((trx) => broken.execute(trx)))
    await expect(transaction).rejects.toMatchObject({ code: '22012' })
    expect(await left()).toEqual(clean)
    const cancelled = sql`select set_config('statement_timeout', '20', true), pg_sleep(0.01)`
    await inOurs(() => cancelled.execute(store.db))
    const slow = inOurs(() =>
      store.db.transaction().execute(async (trx) => {
        await sql`set local statement_timeout = 20`.execute(trx)
        await sql`select pg_sleep(5)`.execute(trx)
      }),
    )
    await expect(slow).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await left()).toEqual(clean)
  })

  test('changes the scope for work inside of a transaction, also after a savepoint', async () => {
    const projectOf = async (trx: typeof store.db) =>
      (await settings().execute(trx)).rows[0]?.['project']
    await inOurs(() =>
      store.db.transaction().execute(async (trx) => {
        await sql`savepoint here`.execute(trx)
        expect(await runInProject(theirs.project_id, () => projectOf(trx))).toBe(theirs.project_id)
        await sql`rollback to here`.execute(trx)
        expect(await runInProject(theirs.project_id, () => projectOf(trx))).toBe(theirs.project_id)
        expect(await projectOf(trx)).toBe(ours.project_id)
      }),
    )
    expect(await left()).toEqual(clean)
  })

  test('sends no statement of work without a scope', async () => {
    const read = settings().execute(store.db)
    await expect(read).rejects.toMatchObject({ name: 'TenantScopeMissing' })
    const transaction = store.db.transaction().execute((trx) => settings().execute(trx))
    await expect(transaction).rejects.toMatchObject({ name: 'TenantScopeMissing' })
    expect((await inOurs(() => settings().execute(store.db))).rows).toHaveLength(1)
  })
})

describe('a login', () => {
  const open = (url: string) => {
    const store = openRelational<unknown>({ url, ...limits })
    closing.push(() => store.close())
    return store
  }
  const roleOf = (url: string) => {
    const { db } = open(url)
    return runInProject(ours.project_id, async () => {
      const { rows } = await sql<{ role: string }>`select current_user as role`.execute(db)
      return rows[0]?.role
    })
  }

  test('that owns the tables and is no member of the role keeps its own', async () => {
    const { url } = await ownerDatabase('nosuperuser')
    expect(await roleOf(url)).toBe(new URL(url).username)
  })

  test('that is a member switches to the role', async () => {
    const { url, admin_url } = await ownerDatabase('nosuperuser')
    await (await connect(admin_url)).query(`grant looptrace_app to ${new URL(url).username}`)
    expect(await roleOf(url)).toBe('looptrace_app')
  })

  test('that bypasses policies and is no member is refused, with the SQL to run', async () => {
    const { url } = await ownerDatabase('nosuperuser bypassrls')
    const login = new URL(url).username
    await expect(roleOf(url)).rejects.toMatchObject({
      name: 'TenantPolicyBypassed',
      message: expect.stringContaining(`grant looptrace_app to "${login}"`),
    })
  })
})

describe('a hostile project id', () => {
  const hostile = "x'; drop table tasks; --"

  test('is refused before a statement', () => {
    expect(() => runInProject(hostile, () => 'ran')).toThrow('expected a UUID')
    const batch = [ours.project_id, hostile]
    expect(() => runInProjects(batch, () => 'ran')).toThrow('expected a UUID')
  })

  test('is a parameter, so that it cannot become SQL', async () => {
    const client = await connect(await testPostgres())
    const scope = { kind: 'project', project_id: hostile } as const
    const read = within({ client, role: 'looptrace_app' }, scope, 'select * from tasks')
    expect((await read).rows).toEqual([])
    expect((await client.query("select to_regclass('tasks') as found")).rows[0].found).toBe('tasks')
  })
})

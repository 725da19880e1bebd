import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AccessTables,
  openRelational,
  type Relational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

let store: Relational<AccessTables & TaskTables>

beforeAll(async () => {
  store = openRelational({
    scope: allTenants,
    url: await testPostgres(),
    pool_max: 2,
    connect_timeout_ms: 10_000,
    statement_timeout_ms: 10_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
})

afterAll(() => store.close())

test('a task is read as it was written', async () => {
  const written = {
    project_id: '0197b2f4-0000-7000-8000-000000000001',
    task_id: 'order-1',
    name: 'order',
    implicit: false,
    started_at: '2026-01-02T03:04:05.678Z',
    last_activity_at: new Date('2026-01-02T03:04:06.789Z'),
    calls: 3,
    total_tokens: Number.MAX_SAFE_INTEGER,
    cost_usd: '12345678901.123456789',
    models: ['a', 'b,"c'],
  }
  await store.db.insertInto('tasks').values(written).execute()
  const read = await store.db.selectFrom('tasks').selectAll().executeTakeFirstOrThrow()
  expect(read).toMatchObject({ ...written, last_activity_at: '2026-01-02T03:04:06.789Z' })
  expect(read).toMatchObject({ state: 'running', errors: 0, user_id: null, providers: [] })
  expect(read.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('an instant that was read finds its row again', async () => {
  const { db } = store
  await db.insertInto('organizations').values({ id: organizationId, name: 'acme' }).execute()
  const { created_at } = await db.selectFrom('organizations').selectAll().executeTakeFirstOrThrow()
  const found = db.selectFrom('organizations').select('name').where('created_at', '=', created_at)
  expect(await found.execute()).toEqual([{ name: 'acme' }])
})

test('a number too large to be exact is an error, never another number', async () => {
  await expect(store.pool.query('select 9007199254740993::bigint')).rejects.toThrow(
    'bigint 9007199254740993: expected at most 2^53 - 1',
  )
})

test.each([
  ["select '1 day'::interval is null as v", false],
  ["select 'infinity'::timestamptz as v", 'infinity'],
  ["select date '2026-03-29' as v", '2026-03-29'],
  ["select timestamp '2026-03-29 02:30' as v", '2026-03-29 02:30:00'],
  ["select '2026-03-29 02:30:00.1239+02'::timestamptz as v", '2026-03-29T00:30:00.123Z'],
  ['select null::bigint as v', null],
  ['select count(*) as v from users', 0],
])('%s', async (statement, value) => {
  expect((await store.pool.query(statement)).rows).toEqual([{ v: value }])
})

test('the table refuses an e-mail that is not lower case', async () => {
  const user = { id: organizationId, email: 'A@example.com', display_name: 'A' }
  await expect(store.db.insertInto('users').values(user).execute()).rejects.toThrow('users_email')
})

const organizationId = '0197b2f4-0000-7000-8000-000000000002'

import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listLockedUsers } from '../../src/capabilities/access/index.ts'
import { migrateRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { type AccessApp, quickPasswords, startAccessApp } from '../support/access-app.ts'
import { testPostgres } from '../support/postgres.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
const migrations = 'src/platform/relational/migrations'
/** Accounts of a database of the version before invitations. */
const people = ['boss', 'single', 'shared', 'external', 'second'] as const
const id = (n: number) => `01890000-0000-7000-8000-00000000000${n}`
const idOf = (name: (typeof people)[number]) => id(people.indexOf(name) + 1)
let app: AccessApp
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'looptrace-old-schema-'))
  for (const file of await readdir(migrations)) {
    if (file < '0020') await copyFile(join(migrations, file), join(folder, file))
  }
  const url = await testPostgres('empty')
  await migrateRelational({ url, logger, directory: folder })
  await fillOldDatabase(url)
  await migrateRelational({ url, logger })
  app = await startAccessApp({ database_url: url })
})
afterAll(async () => {
  await app.close()
  await rm(folder, { recursive: true })
})

/**
 * Organization 7 made `single` and `shared`; `shared` and `boss` are members of organization 8 too,
 * whose owner `second` came later to the first organization.
 */
async function fillOldDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const hash = await quickPasswords.hash('an initial password')
  await client.query(`insert into organizations (id, name, created_at) values
    ('${id(7)}', 'first', '2026-01-01'), ('${id(8)}', 'other', '2026-02-01')`)
  for (const name of people) {
    const created = name === 'boss' ? '2026-01-01' : '2026-03-01'
    const password = name === 'external' ? null : hash
    await client.query('insert into users values ($1, $2, $3, $2, null, $4)', [
      ...[idOf(name), `${name}@example.com`, password, created],
    ])
    await client.query('insert into refresh_tokens values ($1, $1, $1, $2, now(), $3)', [
      ...[idOf(name), Buffer.from(name.padEnd(32)), '2100-01-01'],
    ])
  }
  await client.query(`insert into organization_members values
    ('${id(7)}', '${idOf('boss')}', 'owner'), ('${id(7)}', '${idOf('single')}', 'member'),
    ('${id(7)}', '${idOf('shared')}', 'member'), ('${id(7)}', '${idOf('external')}', 'member'),
    ('${id(7)}', '${idOf('second')}', 'owner'), ('${id(8)}', '${idOf('boss')}', 'member'),
    ('${id(8)}', '${idOf('shared')}', 'admin'), ('${id(8)}', '${idOf('external')}', 'member')`)
  await client.end()
}

const signIn = (name: string) => app.signIn(`${name}@example.com`, 'an initial password')
const liveTokens = async () => {
  const rows = await app.relational.db
    .selectFrom('refresh_tokens')
    .select('user_id')
    .where('revoked_at', 'is', null)
    .orderBy('user_id')
    .execute()
  return [...new Set(rows.map(({ user_id }) => user_id))]
}

test('only the person of the first start is an administrator of the installation', async () => {
  const token = await signIn('boss')
  const { users } = (await app.call('GET', '/api/v2/access/users', { token })).body
  const admins = users.filter((user: { installation_admin: boolean }) => user.installation_admin)
  expect(admins.map((user: { id: string }) => user.id)).toEqual([idOf('boss')])
  const other = await app.call('GET', '/api/v2/access/users', { token: await signIn('second') })
  expect(other.status).toBe(403)
})

test('only passwords that may give access to the organization of another person are removed', async () => {
  expect(await liveTokens()).toEqual(
    (['boss', 'single', 'external', 'second'] as const).map(idOf).toSorted(),
  )
  await expect(signIn('shared')).rejects.toThrow('401')
  expect(await signIn('single')).toBeDefined()
})

test('the accounts to repair are reported until an administrator sets a password', async () => {
  const { db } = app.relational
  expect(await listLockedUsers(db)).toEqual({ user_ids: [idOf('shared')], total: 1 })
  const token = await signIn('boss')
  const listed = await app.call('GET', '/api/v2/access/users?password_origin=legacy', { token })
  const locked = listed.body.users.filter((user: { has_password: boolean }) => !user.has_password)
  expect(locked).toMatchObject([{ email: 'shared@example.com' }])
  const body = { password: 'passed on by phone' }
  await app.call('POST', `/api/v2/access/users/${idOf('shared')}/password`, { token, body })
  expect(await listLockedUsers(db)).toEqual({ user_ids: [], total: 0 })
  expect(await app.signIn('shared@example.com', 'passed on by phone')).toBeDefined()
})

test('when the person of the first start is gone, the owners of the first organization administer', async () => {
  const url = await testPostgres('empty')
  await migrateRelational({ url, logger, directory: folder })
  await fillOldDatabase(url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('delete from users where id = $1', [idOf('boss')])
  await migrateRelational({ url, logger })
  const admins = await client.query('select id from users where installation_admin')
  expect(admins.rows).toEqual([{ id: idOf('second') }])
  await client.end()
})

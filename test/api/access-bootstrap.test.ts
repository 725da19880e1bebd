import { expect, test } from 'vitest'
import {
  type BootstrapSecrets,
  bootstrap,
  GivenSecretRefused,
  mintGivenSecrets,
} from '../../src/capabilities/access/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { type AccessTables, openRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { quickPasswords, startAccessApp } from '../support/access-app.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

function open(url: string) {
  return openRelational<AccessTables>({
    scope: allTenants,
    url,
    pool_max: 10,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 10_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
}

const common = { clock: systemClock, passwords: quickPasswords }

test('the first start creates an owner, a project and a key, and shows the secrets once', async () => {
  const { db, close } = open(await testPostgres())
  const delivered: BootstrapSecrets[] = []
  const deliver = async (secrets: BootstrapSecrets) => {
    delivered.push(secrets)
  }
  const first = await bootstrap({ ...common, db, deliver })
  expect(first).toMatchObject({
    admin_email: 'admin@looptrace.local',
    admin_password: expect.stringMatching(/^[0-9A-Za-z]{24}$/),
    project_key: expect.stringMatching(/^lt_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/),
  })
  expect(delivered).toEqual([first])
  expect(await bootstrap({ ...common, db, deliver })).toBeNull()
  expect(delivered).toHaveLength(1)
  await close()
})

test('the secrets that it shows work for sign-in and for calls', async () => {
  const app = await startAccessApp()
  const { admin_email, admin_password, project_key, project_id, organization_id } = app.first
  const token = await app.signIn(admin_email, admin_password)
  expect((await app.call('GET', '/probe/key', { key: project_key })).body).toMatchObject({
    kind: 'key',
    project_id,
  })
  const organizations = await app.call('GET', '/api/v2/access/organizations', { token })
  expect(organizations.body).toMatchObject({
    organizations: [{ id: organization_id, name: 'default', role: 'owner' }],
    total: 1,
    next_cursor: null,
  })
  const projects = await app.call('GET', '/api/v2/access/projects', { token })
  expect(projects.body.projects).toMatchObject([{ id: project_id, name: 'default' }])
  await app.close()
})

test('a given login and given names are used', async () => {
  const { db, close } = open(await testPostgres())
  const first = await bootstrap({
    ...common,
    db,
    admin_email: 'Root@Example.com',
    admin_password: 'given by a setting',
    organization: 'acme',
    project: 'agents',
  })
  expect(first).toMatchObject({
    admin_email: 'root@example.com',
    admin_password: 'given by a setting',
  })
  const { name } = await db.selectFrom('organizations').select('name').executeTakeFirstOrThrow()
  expect(name).toBe('acme')
  await close()
})

test('of many concurrent starts one creates everything', async () => {
  const url = await testPostgres()
  const processes = Array.from({ length: 6 }, () => open(url))
  const made = await Promise.all(processes.map(({ db }) => bootstrap({ ...common, db })))
  expect(made.filter((secrets) => secrets !== null)).toHaveLength(1)
  const [one] = processes
  expect(await one?.db.selectFrom('users').select('id').execute()).toHaveLength(1)
  expect(await one?.db.selectFrom('api_keys').select('id').execute()).toHaveLength(1)
  await Promise.all(processes.map(({ close }) => close()))
})

test('if the secrets cannot be delivered nothing is created, and the next start tries again', async () => {
  const { db, close } = open(await testPostgres())
  const deliver = () => Promise.reject(new Error('disk full'))
  await expect(bootstrap({ ...common, db, deliver })).rejects.toThrow('disk full')
  expect(await db.selectFrom('organizations').select('id').execute()).toEqual([])
  expect(await bootstrap({ ...common, db })).not.toBeNull()
  await close()
})

test('neither password nor key is stored in plain text', async () => {
  const { db, close } = open(await testPostgres())
  const { operator_key } = mintGivenSecrets()
  const first = await bootstrap({ ...common, db, operator_key })
  const rows = [
    await db.selectFrom('users').selectAll().execute(),
    await db.selectFrom('api_keys').selectAll().execute(),
    await db.selectFrom('operator_keys').selectAll().execute(),
  ]
  expect(JSON.stringify(rows)).not.toContain(first?.admin_password)
  expect(JSON.stringify(rows)).not.toContain(first?.project_key.slice(-32))
  expect(JSON.stringify(rows)).not.toContain(operator_key.slice(-32))
  await close()
})

test('given values apply to the first start, and to one with an existing organization', async () => {
  const { db, close } = open(await testPostgres())
  const given = mintGivenSecrets()
  const { project_id, project_key, admin_password } = given
  const first = await bootstrap({ ...common, db, ...given })
  expect(first).toMatchObject({ project_id, project_key, admin_password })
  expect(await bootstrap({ ...common, db, ...given })).toBeNull()
  expect(await countsOf(db)).toEqual({ users: 1, projects: 1, api_keys: 1, operator_keys: 1 })

  const others = { ...mintGivenSecrets(), admin_email: 'second@looptrace.local' }
  for (let start = 0; start < 3; start += 1) {
    expect(await bootstrap({ ...common, db, ...others })).toBeNull()
  }
  expect(await countsOf(db)).toEqual({ users: 2, projects: 2, api_keys: 2, operator_keys: 2 })
  const projects = await db.selectFrom('projects').select(['id', 'name']).orderBy('id').execute()
  expect(projects[1]).toEqual({ id: others.project_id, name: `default ${others.project_id}` })
  await close()
})

test('of many processes with the same given values, one creates each object', async () => {
  const url = await testPostgres()
  const given = mintGivenSecrets()
  const processes = Array.from({ length: 6 }, () => open(url))
  await Promise.all(processes.map(({ db }) => bootstrap({ ...common, db, ...given })))
  const [one] = processes
  if (one !== undefined) {
    expect(await countsOf(one.db)).toEqual({ users: 1, projects: 1, api_keys: 1, operator_keys: 1 })
  }
  await Promise.all(processes.map(({ close }) => close()))
})

test('an existing person keeps the password, and revoked keys stay revoked', async () => {
  const { db, close } = open(await testPostgres())
  const given = mintGivenSecrets()
  await bootstrap({ ...common, db, ...given })
  const before = await db.selectFrom('users').selectAll().execute()
  const revoked_at = new Date()
  await db.updateTable('operator_keys').set({ revoked_at }).execute()
  await db.updateTable('api_keys').set({ revoked_at }).execute()
  await bootstrap({ ...common, db, ...given, admin_password: 'another password' })
  expect(await db.selectFrom('users').selectAll().execute()).toEqual(before)
  for (const table of ['operator_keys', 'api_keys'] as const) {
    const rows = await db.selectFrom(table).select('revoked_at').execute()
    expect(rows).toEqual([{ revoked_at: revoked_at.toISOString() }])
  }
  await close()
})

test('a given value with a wrong format is refused without being quoted', async () => {
  const { db, close } = open(await testPostgres())
  for (const given of [
    { operator_key: 'lt_op_short' },
    { operator_key: mintGivenSecrets().project_key },
    { project_key: mintGivenSecrets().operator_key },
    { project_id: 'default' },
  ]) {
    const refusal = await bootstrap({ ...common, db, ...given }).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(GivenSecretRefused)
    const [value = ''] = Object.values(given)
    if (!('project_id' in given)) expect(String(refusal)).not.toContain(value)
  }
  expect(await db.selectFrom('organizations').select('id').execute()).toEqual([])
  await close()
})

test('a prefix that another key has is refused, and so is a ninth operator key', async () => {
  const { db, close } = open(await testPostgres())
  const given = mintGivenSecrets()
  await bootstrap({ ...common, db, ...given })
  for (const name of ['operator_key', 'project_key'] as const) {
    const other = given[name].replace(/.{3}$/, (end) => (end === 'abc' ? 'abd' : 'abc'))
    const refused = bootstrap({ ...common, db, [name]: other })
    await expect(refused).rejects.toThrow(
      'with another secret or of another project has the same prefix',
    )
  }
  for (let n = 1; n < 8; n += 1) {
    await bootstrap({ ...common, db, operator_key: mintGivenSecrets().operator_key })
  }
  const ninth = bootstrap({ ...common, db, operator_key: mintGivenSecrets().operator_key })
  await expect(ninth).rejects.toThrow('8 are valid already')
  await close()
})

type Db = ReturnType<typeof open>['db']

async function countsOf(db: Db) {
  const tables = ['users', 'projects', 'api_keys', 'operator_keys'] as const
  const counted = tables.map(async (table) => {
    const rows = await db.selectFrom(table).select('id').execute()
    return [table, rows.length] as const
  })
  return Object.fromEntries(await Promise.all(counted))
}

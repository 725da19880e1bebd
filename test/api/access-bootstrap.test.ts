import { expect, test } from 'vitest'
import { type BootstrapSecrets, bootstrap } from '../../src/capabilities/access/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { type AccessTables, openRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { quickPasswords, startAccessApp } from '../support/access-app.ts'
import { testPostgres } from '../support/postgres.ts'

function open(url: string) {
  return openRelational<AccessTables>({
    url,
    pool_max: 10,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 10_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
}

const common = { clock: systemClock, passwords: quickPasswords }

test('the first start makes an owner, a project and a key, and shows the secrets once', async () => {
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

test('what it shows is good for sign-in and for calls', async () => {
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

test('given login and names are taken', async () => {
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

test('of many processes that start at once one makes everything', async () => {
  const url = await testPostgres()
  const processes = Array.from({ length: 6 }, () => open(url))
  const made = await Promise.all(processes.map(({ db }) => bootstrap({ ...common, db })))
  expect(made.filter((secrets) => secrets !== null)).toHaveLength(1)
  const [one] = processes
  expect(await one?.db.selectFrom('users').select('id').execute()).toHaveLength(1)
  expect(await one?.db.selectFrom('api_keys').select('id').execute()).toHaveLength(1)
  await Promise.all(processes.map(({ close }) => close()))
})

test('when the secrets can not be delivered nothing is made, and the next start tries again', async () => {
  const { db, close } = open(await testPostgres())
  const deliver = () => Promise.reject(new Error('disk full'))
  await expect(bootstrap({ ...common, db, deliver })).rejects.toThrow('disk full')
  expect(await db.selectFrom('organizations').select('id').execute()).toEqual([])
  expect(await bootstrap({ ...common, db })).not.toBeNull()
  await close()
})

test('neither password nor key is in a row as it is', async () => {
  const { db, close } = open(await testPostgres())
  const first = await bootstrap({ ...common, db })
  const rows = [
    await db.selectFrom('users').selectAll().execute(),
    await db.selectFrom('api_keys').selectAll().execute(),
  ]
  expect(JSON.stringify(rows)).not.toContain(first?.admin_password)
  expect(JSON.stringify(rows)).not.toContain(first?.project_key.slice(-32))
  await close()
})

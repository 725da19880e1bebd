import { afterAll, beforeAll, expect, test } from 'vitest'
import { mintGivenSecrets } from '../../src/capabilities/access/index.ts'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'

const root = '/api/v2/access'
const stranger = '01890000-0000-7000-8000-000000000000'
let app: AccessApp
let owner: string
/** A second project, in an organization of its own. */
let other: string

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  const { body } = await post(`${root}/organizations`, { name: 'other' })
  const made = await post(`${root}/organizations/${body.id}/projects`, { name: 'agents' })
  other = made.body.id
})

afterAll(() => app.close())

const post = (url: string, body: unknown) => app.call('POST', url, { token: owner, body })
const asOperator = (url: string, project?: string, key = app.operator_key) =>
  app.call('GET', url, {
    key,
    ...(project !== undefined && { headers: { 'x-project-id': project } }),
  })

test('works in any project that it names, on routes that accept it', async () => {
  for (const project_id of [app.first.project_id, other]) {
    const { status, body } = await asOperator('/probe/operator', project_id)
    expect(status).toBe(200)
    expect(body).toMatchObject({ kind: 'operator', project_id })
  }
  const upper = await asOperator('/probe/operator', other.toUpperCase())
  expect(upper.body.project_id).toBe(other)
})

test('is refused everywhere else', async () => {
  for (const probe of ['key', 'either', 'editor', 'jwt', 'people', 'organization', 'user']) {
    const { status } = await asOperator(`/probe/${probe}`, app.first.project_id)
    expect(status, probe).toBe(401)
  }
  const grant = await app.call('POST', '/api/v1/auth/token', {
    body: { grant_type: 'client_credentials', client_secret: app.operator_key },
  })
  expect(outcome(grant)).toEqual([401, 'credentials_invalid'])
})

test('must name an existing project', async () => {
  expect(outcome(await asOperator('/probe/operator'))).toEqual([400, 'project_required'])
  for (const project of [stranger, 'default']) {
    expect(outcome(await asOperator('/probe/operator', project))).toEqual([
      404,
      'project_not_found',
    ])
  }
})

test('a new project is accepted at once', async () => {
  const id = '01890000-0000-7000-8000-000000000001'
  expect((await asOperator('/probe/operator', id)).status).toBe(404)
  const { organization_id } = app.first
  const row = { id, organization_id, name: 'later' }
  await app.relational.db.insertInto('projects').values(row).execute()
  expect((await asOperator('/probe/operator', id)).status).toBe(200)
})

test('with an unknown key it is refused', async () => {
  const wrong = app.operator_key.replace(/.$/, (end) => (end === 'x' ? 'y' : 'x'))
  const { operator_key: unknown } = mintGivenSecrets()
  for (const key of [wrong, unknown, `${app.operator_key}x`]) {
    expect((await asOperator('/probe/operator', other, key)).status).toBe(401)
  }
  const both = await app.call('GET', '/probe/operator', { key: app.operator_key, token: owner })
  expect(outcome(both)).toEqual([401, 'credentials_invalid'])
})

test('lists all projects, and those with a name', async () => {
  const all = await asOperator(`${root}/projects`)
  expect(all.body.projects.map(({ id }: { id: string }) => id)).toContain(other)
  expect(all.body.projects[0].role).toBeNull()
  const named = await asOperator(`${root}/projects?name=agents`)
  expect(named.body).toMatchObject({ projects: [{ id: other, name: 'agents' }], total: 1 })
  expect((await asOperator(`${root}/projects?name=nothing`)).body.projects).toEqual([])
  const ofOrganization = (name: string) =>
    asOperator(`${root}/projects?name=agents&organization=${encodeURIComponent(name)}`)
  const { name: organization } = await app.relational.db
    .selectFrom('organizations')
    .innerJoin('projects', 'projects.organization_id', 'organizations.id')
    .select('organizations.name')
    .where('projects.id', '=', other)
    .executeTakeFirstOrThrow()
  expect((await ofOrganization(organization)).body).toMatchObject({ projects: [{ id: other }] })
  for (const another of [organization.toUpperCase(), `${organization}%`, '%', 'default']) {
    expect((await ofOrganization(another)).body.projects ?? []).toEqual([])
  }
  const first = await asOperator(`${root}/projects?limit=1`)
  const rest = await asOperator(`${root}/projects?limit=9&cursor=${first.body.next_cursor}`)
  expect([...first.body.projects, ...rest.body.projects]).toEqual(all.body.projects)
  const one = await asOperator(`${root}/projects/${other}`)
  expect(one.body).toMatchObject({ name: 'agents', role: null })
})

test('a person who lists projects by name sees only their own', async () => {
  const { token } = await app.person('member@example.com', 'member')
  for (const name of ['agents', 'default']) {
    const seen = await app.call('GET', `${root}/projects?name=${name}`, { token })
    expect(seen.body.projects).toEqual([])
  }
  const mine = await app.call('GET', `${root}/projects?name=default`, { token: owner })
  expect(mine.body.projects).toMatchObject([{ id: app.first.project_id, role: 'admin' }])
})

test('an administrator of the installation lists its keys and revokes one, permanently', async () => {
  const listed = await app.call('GET', `${root}/operator-keys`, { token: owner })
  expect(listed.body).toMatchObject({
    operator_keys: [{ prefix: app.operator_key.slice(0, 14), revoked_at: null }],
    total: 1,
    next_cursor: null,
  })
  const { id } = listed.body.operator_keys[0]
  const others = await app.person('admin@example.com', 'admin')
  for (const token of [others.token, await tokenOfOtherOwner()]) {
    for (const reply of [
      await app.call('GET', `${root}/operator-keys`, { token }),
      await app.call('DELETE', `${root}/operator-keys/${id}`, { token }),
    ]) {
      expect(outcome(reply)).toEqual([403, 'permission_denied'])
    }
  }
  const missing = await app.call('DELETE', `${root}/operator-keys/${stranger}`, { token: owner })
  expect(outcome(missing)).toEqual([404, 'api_key_not_found'])

  expect((await asOperator('/probe/operator', other)).status).toBe(200)
  const revoked = await app.call('DELETE', `${root}/operator-keys/${id}`, { token: owner })
  expect(revoked.body.revoked_at).not.toBeNull()
  expect(outcome(await asOperator('/probe/operator', other))).toEqual([401, 'credentials_invalid'])
  const again = await app.call('DELETE', `${root}/operator-keys/${id}`, { token: owner })
  expect(again.body).toEqual(revoked.body)
})

/** An owner of the second organization who is only a member of the first. */
async function tokenOfOtherOwner(): Promise<string> {
  const { user_id, token } = await app.person('tenant@example.com', 'member')
  const { body } = await app.call('GET', `${root}/organizations`, { token: owner })
  const { id } = body.organizations.find(({ name }: { name: string }) => name === 'other')
  const row = { organization_id: id, user_id, role: 'owner' } as const
  await app.relational.db.insertInto('organization_members').values(row).execute()
  return token
}

test('its key is in no log', () => {
  expect(app.logged()).not.toContain(app.operator_key.slice(-32))
  expect(app.logged()).not.toBe('')
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccessApp, type Person, startAccessApp } from '../support/access-app.ts'

const stranger = '01890000-0000-7000-8000-000000000000'
let app: AccessApp
let owner: string
let viewer: Person
let outsider: Person
/** A second organization with a project, which only its owner can see. */
let foreign: { organization_id: string; project_id: string; key: string }

beforeAll(async () => {
  app = await startAccessApp()
  const { admin_email, admin_password, project_id } = app.first
  owner = await app.signIn(admin_email, admin_password)
  viewer = await app.person('viewer@example.com', 'member')
  outsider = await app.person('outsider@example.com', 'member')
  await app.call('PUT', `/api/v2/access/projects/${project_id}/members/${viewer.user_id}`, {
    token: owner,
    body: { role: 'viewer' },
  })
  const organizations = '/api/v2/access/organizations'
  const other = await app.call('POST', organizations, { token: owner, body: { name: 'other' } })
  const project = await app.call('POST', `${organizations}/${other.body.id}/projects`, {
    token: owner,
    body: { name: 'default' },
  })
  const keys = `/api/v2/access/projects/${project.body.id}/api-keys`
  const key = await app.call('POST', keys, { token: owner, body: { name: 'k' } })
  foreign = {
    organization_id: other.body.id,
    project_id: project.body.id,
    key: key.body.key,
  }
})
afterAll(() => app.close())

const get = (url: string, more: Parameters<AccessApp['call']>[2] = {}) => app.call('GET', url, more)
const codeOf = async (url: string, more: Parameters<AccessApp['call']>[2] = {}) => {
  const { status, body } = await get(url, more)
  return [status, body.code]
}

describe('credentials', () => {
  test.each([
    ['/probe/key'],
    ['/probe/either'],
    ['/probe/jwt'],
    ['/probe/organization'],
    ['/probe/user'],
    ['/api/v2/access/organizations'],
  ])('%s are accepted', async (url) => {
    expect(await codeOf(url)).toEqual([401, 'credentials_missing'])
  })

  test('a key is accepted only where keys are', async () => {
    const key = app.first.project_key
    const { body } = await get('/probe/key', { key })
    expect(body).toMatchObject({ kind: 'key', project_id: app.first.project_id })
    expect((await get('/probe/either', { key })).status).toBe(200)
    expect(await codeOf('/probe/user', { key })).toEqual([401, 'credentials_unsupported'])
  })

  test('a key where a token is required gets a specific error, whether the key is valid or not', async () => {
    const answers = await Promise.all(
      [app.first.project_key, 'lt_00000000_wrong', 'nonsense'].map((key) =>
        get('/probe/jwt', { key }),
      ),
    )
    for (const { status, body, headers } of answers) {
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toBe('Bearer')
      expect(body).toMatchObject({
        code: 'credentials_unsupported',
        detail: 'Expected an access token (Authorization: Bearer <token>) and not a key',
      })
      expect(body.title).not.toContain('missing')
    }
    const [first, ...others] = answers.map(({ body }) => body)
    for (const other of others) expect(other).toEqual(first)
  })

  test('a token is accepted only where tokens are', async () => {
    expect((await get('/probe/jwt', { token: viewer.token })).status).toBe(200)
    expect((await get('/probe/either', { token: viewer.token })).status).toBe(200)
    expect(await codeOf('/probe/key', { token: viewer.token })).toEqual([
      401,
      'credentials_unsupported',
    ])
  })

  test('both at once are refused, valid or not', async () => {
    const key = app.first.project_key
    for (const more of [
      { key, token: viewer.token },
      { key, token: 'sk-a-provider-key' },
      { key: 'lt_wrong', token: viewer.token },
    ]) {
      const reply = await get('/probe/either', more)
      expect([reply.status, reply.body.code]).toEqual([401, 'credentials_invalid'])
      expect(reply.body.detail).toContain('expected one of them')
    }
  })

  test('a key as a bearer token is refused with a hint', async () => {
    const reply = await get('/probe/either', { token: app.first.project_key })
    expect([reply.status, reply.body.code]).toEqual([401, 'credentials_invalid'])
    expect(reply.body.detail).toContain('X-API-Key')
    expect(reply.text).not.toContain(app.first.project_key)
  })

  test.each([
    ['no key', 'lt_nonsense'],
    ['an empty key', ''],
    ['an unknown key', `lt_abcdefgh_${'x'.repeat(32)}`],
    ['a long text', 'x'.repeat(5_000)],
  ])('%s is refused', async (_name, key) => {
    expect(await codeOf('/probe/key', { key })).toEqual([401, 'credentials_invalid'])
  })

  test.each([
    ['another scheme', 'Basic YTpi'],
    ['no token', 'Bearer '],
    ['no JWT', 'Bearer abc'],
    ['two tokens', 'Bearer a.b.c, Bearer d.e.f'],
  ])('%s is refused', async (_name, authorization) => {
    expect(await codeOf('/probe/jwt', { headers: { authorization } })).toEqual([
      401,
      'credentials_invalid',
    ])
  })

  test('a wrong secret with a valid prefix is refused', async () => {
    const key = app.first.project_key.slice(0, -32) + 'x'.repeat(32)
    expect(await codeOf('/probe/key', { key })).toEqual([401, 'credentials_invalid'])
  })
})

describe('the project', () => {
  test("a person's only one is used; another can be named in header or query", async () => {
    const { project_id } = app.first
    const { token } = viewer
    for (const [url, headers] of [
      ['/probe/jwt', {}],
      [`/probe/jwt?project_id=${project_id}`, {}],
      ['/probe/jwt', { 'x-project-id': project_id.toUpperCase() }],
    ] as const) {
      expect((await get(url, { token, headers })).body).toMatchObject({ project_id })
    }
  })

  test('of several projects, one must be named or be the default', async () => {
    const required = [400, 'project_required']
    expect(await codeOf('/probe/jwt', { token: outsider.token })).toEqual(required)
    const { project_id, organization_id } = app.first
    const made = await app.call(
      'POST',
      `/api/v2/access/organizations/${organization_id}/projects`,
      { token: owner, body: { name: 'second' } },
    )
    const { token } = await app.person('both@example.com', 'admin')
    expect(await codeOf('/probe/jwt', { token })).toEqual(required)
    const choose = (id: string) =>
      app.call('PUT', '/api/v1/auth/default-project', { token, body: { project_id: id } })
    expect((await choose(foreign.project_id)).status).toBe(404)
    expect((await choose(made.body.id)).status).toBe(200)
    expect((await get('/probe/jwt', { token })).body.project_id).toBe(made.body.id)
    expect((await choose(project_id)).status).toBe(200)
    expect((await get('/probe/jwt', { token })).body.project_id).toBe(project_id)
  })

  test('the only one stays the default when the person gets access to others', async () => {
    const { project_id } = app.first
    const mine = (token: string) => get('/probe/jwt', { token }).then(({ body }) => body.project_id)
    expect(await mine(owner)).toBe(project_id)
    const { user_id, token } = await app.person('shared@example.com', 'member')
    const url = `/api/v2/access/projects/${project_id}/members/${user_id}`
    await app.call('PUT', url, { token: owner, body: { role: 'viewer' } })
    expect(await mine(token)).toBe(project_id)
    const elsewhere = `/api/v2/access/organizations/${foreign.organization_id}/members`
    const body = { email: 'shared@example.com', role: 'owner' }
    const invited = await app.call('POST', elsewhere, { token: owner, body })
    expect(await mine(token)).toBe(project_id)
    await app.call('POST', '/api/v1/auth/invitations/accept', {
      token,
      body: { token: invited.body.token },
    })
    expect(await mine(token)).toBe(project_id)
    await app.call('DELETE', url, { token: owner })
    expect(await mine(token)).toBe(foreign.project_id)
  })

  test.each([
    ['of another organization', () => foreign.project_id],
    ['that is not there', () => stranger],
    ['that is no id', () => "' or 1=1"],
  ])('one %s is not found', async (_name, project) => {
    const headers = { 'x-project-id': project() }
    const missing = [404, 'project_not_found']
    expect(await codeOf('/probe/jwt', { token: viewer.token, headers })).toEqual(missing)
    expect(await codeOf('/probe/either', { key: app.first.project_key, headers })).toEqual(missing)
  })

  test('one in the same organization is not found without a role in it', async () => {
    const headers = { 'x-project-id': app.first.project_id }
    expect(await codeOf('/probe/jwt', { token: outsider.token, headers })).toEqual([
      404,
      'project_not_found',
    ])
  })

  test('the path takes precedence over header and query', async () => {
    const { project_id } = app.first
    const url = `/api/v2/access/projects/${project_id}?project_id=${foreign.project_id}`
    const reply = await get(url, { token: viewer.token })
    expect([reply.status, reply.body.id]).toEqual([200, project_id])
  })
})

describe('permissions', () => {
  test('a viewer is not an editor, a key has only its scopes', async () => {
    const denied = [403, 'permission_denied']
    expect(await codeOf('/probe/editor', { token: viewer.token })).toEqual(denied)
    expect(await codeOf('/probe/editor', { key: app.first.project_key })).toEqual(denied)
    expect(await codeOf('/probe/people', { key: app.first.project_key })).toEqual(denied)
    expect((await get('/probe/people', { token: viewer.token })).status).toBe(200)
  })

  test('an owner is admin in the projects of the organization', async () => {
    const headers = { 'x-project-id': app.first.project_id }
    expect((await get('/probe/editor', { token: owner, headers })).status).toBe(200)
  })

  test('a revoked role ends at once here, and within 30 s elsewhere', async () => {
    const elsewhere = await startAccessApp({
      database_url: app.relational.pool.options.connectionString ?? '',
    })
    const { user_id, token } = await app.person('moving@example.com', 'member')
    const { project_id } = app.first
    const url = `/api/v2/access/projects/${project_id}/members/${user_id}`
    await app.call('PUT', url, { token: owner, body: { role: 'viewer' } })
    const headers = { 'x-project-id': project_id }
    expect((await get('/probe/jwt', { token, headers })).status).toBe(200)
    expect((await elsewhere.call('GET', '/probe/jwt', { token, headers })).status).toBe(200)
    expect((await app.call('DELETE', url, { token: owner })).status).toBe(204)
    expect((await get('/probe/jwt', { token, headers })).status).toBe(404)
    elsewhere.clock.ahead_ms = 30_000
    expect((await elsewhere.call('GET', '/probe/jwt', { token, headers })).status).toBe(404)
    await elsewhere.close()
  })

  test('without one in the path, the organization is that of the project', async () => {
    const headers = { 'x-project-id': app.first.project_id }
    expect(await codeOf('/probe/organization', { token: viewer.token })).toEqual([
      403,
      'permission_denied',
    ])
    expect((await get('/probe/organization', { token: owner, headers })).body).toMatchObject({
      project_id: app.first.project_id,
    })
  })

  test('an organization without membership is not found, whether it exists or not', async () => {
    for (const id of [foreign.organization_id, stranger, 'nonsense']) {
      const url = `/api/v2/access/organizations/${id}/members`
      expect(await codeOf(url, { token: viewer.token })).toEqual([404, 'organization_not_found'])
    }
    const own = `/api/v2/access/organizations/${app.first.organization_id}/members`
    expect(await codeOf(own, { token: viewer.token })).toEqual([403, 'permission_denied'])
  })
})

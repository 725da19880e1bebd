import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccessApp, outcome, type Person, startAccessApp } from '../support/access-app.ts'
import { blocked, whileLocked } from '../support/row-locks.ts'

const access = '/api/v2/access'
const stranger_id = '01890000-0000-7000-8000-000000000000'
let app: AccessApp
let owner: string
let owner_id: string
let organization: string
let people = 0

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  owner_id = (await app.call('GET', '/probe/user', { token: owner })).body.id
  organization = `${access}/organizations/${app.first.organization_id}`
})
afterAll(() => app.close())

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
const call = (method: Method, url: string, body?: unknown, token = owner) =>
  app.call(method, url, { token, body })
const put = (url: string, body: unknown, if_match: string) =>
  app.call('PUT', url, { token: owner, body, headers: { 'if-match': if_match } })
const person = (role = 'member', organization_id?: string) => {
  people += 1
  return app.person(`person-${people}@example.com`, role, organization_id)
}
/** Makes an organization of the owner, and a second owner of it. */
async function twoOwners(): Promise<{ url: string; id: string; second: Person }> {
  people += 1
  const { body } = await call('POST', `${access}/organizations`, { name: `team ${people}` })
  return {
    url: `${access}/organizations/${body.id}`,
    id: body.id,
    second: await person('owner', body.id),
  }
}

describe('ETag and If-Match', () => {
  test.each<[string, () => Promise<string>, (n: number) => unknown]>([
    ['an organization', async () => organization, (n) => ({ name: `o ${n}`, key_scopes: null })],
    [
      'a member',
      async () => `${organization}/members/${(await person()).user_id}`,
      (n) => ({ role: n % 2 === 0 ? 'member' : 'admin' }),
    ],
    [
      'a service account',
      async () => {
        const body = { name: 'agent', scopes: [] }
        const made = await call('POST', `${access}/service-accounts`, body)
        return `${access}/service-accounts/${made.body.id}`
      },
      (n) => ({ name: `agent ${n}`, scopes: [] }),
    ],
  ])('%s', async (_name, make, change) => {
    const url = await make()
    const read = await call('GET', url)
    const etag = String(read.headers['etag'])
    expect(etag).toMatch(new RegExp(`^"${read.body.version}-`))
    const changed = await put(url, change(1), etag)
    expect([changed.status, changed.headers['etag']]).toEqual([200, `"${read.body.version + 1}"`])
    const stale = await put(url, change(2), etag)
    expect(outcome(stale)).toEqual([412, 'precondition_failed'])
    expect(stale.body.detail).toContain(String(changed.headers['etag']))
    expect((await call('GET', url)).body).toEqual(changed.body)
    expect((await put(url, change(2), 'W/"1"')).status).toBe(412)
    expect((await put(url, change(2), '*')).status).toBe(200)
    expect((await call('PUT', url, change(3))).status).toBe(200)
  })

  test('a project: settings and environments share its version', async () => {
    const url = `${access}/projects/${app.first.project_id}`
    const { headers } = await call('GET', url)
    const settings = { name: 'renamed', key_scopes: null }
    const renamed = await put(`${url}/settings`, settings, String(headers['etag']))
    expect(renamed.body).toMatchObject({ name: 'renamed', role: 'admin' })
    const environments = { environments: ['production'] }
    const stale = await put(`${url}/environments`, environments, String(headers['etag']))
    expect(outcome(stale)).toEqual([412, 'precondition_failed'])
    const etag = String(renamed.headers['etag'])
    expect((await put(`${url}/environments`, environments, etag)).status).toBe(200)
    await call('PUT', `${url}/settings`, { name: 'default', key_scopes: null })
  })

  test('a project member: the version is 0 without a role in the project', async () => {
    const { user_id } = await person()
    const url = `${access}/projects/${app.first.project_id}/members/${user_id}`
    expect(outcome(await call('GET', url))).toEqual([404, 'member_not_found'])
    expect((await put(url, { role: 'viewer' }, '"1"')).status).toBe(412)
    const added = await put(url, { role: 'viewer' }, '"0"')
    expect([added.status, added.headers['etag']]).toEqual([200, '"1"'])
    expect((await put(url, { role: 'editor' }, '"0"')).status).toBe(412)
    expect((await put(url, { role: 'editor' }, '"1"')).body).toMatchObject({ version: 2 })
    expect((await call('GET', url)).body).toMatchObject({ project_role: 'editor', version: 2 })
  })

  test('of two changes of one version at once, one wins', async () => {
    const { headers } = await call('GET', organization)
    const etag = String(headers['etag'])
    const replies = await Promise.all(
      ['a', 'b', 'c'].map((name) => put(organization, { name, key_scopes: null }, etag)),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412])
    await call('PUT', organization, { name: 'default', key_scopes: null })
  })
})

describe('an organization', () => {
  test('keeps its name for itself', async () => {
    const { url } = await twoOwners()
    const taken = await call('PUT', url, { name: 'default', key_scopes: null })
    expect(outcome(taken)).toEqual([409, 'name_taken'])
  })

  test('has one project of a name', async () => {
    const { id } = await twoOwners()
    const create = (name: string) =>
      call('POST', `/api/v2/access/organizations/${id}/projects`, { name })
    await create('first')
    const second = `/api/v2/access/projects/${(await create('second')).body.id}/settings`
    const renamed = (name: string) => call('PUT', second, { name, key_scopes: null })
    expect(outcome(await renamed('first'))).toEqual([409, 'name_taken'])
    expect((await renamed('second')).status).toBe(200)
  })

  test('is changed by admins, deleted by owners, and not seen by others', async () => {
    const { url, id, second } = await twoOwners()
    const admin = await person('admin', id)
    const member = await person('member', id)
    const outsider = await person()
    const body = { name: `renamed ${people}`, key_scopes: null }
    expect((await call('GET', url, undefined, member.token)).body.role).toBe('member')
    expect((await call('PUT', url, body, member.token)).status).toBe(403)
    expect((await call('PUT', url, body, admin.token)).status).toBe(200)
    expect((await call('DELETE', url, undefined, admin.token)).status).toBe(403)
    for (const [method, path] of [
      ...([
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/leave'],
      ] as const),
      ...([
        ['GET', `/members/${second.user_id}`],
        ['DELETE', `/members/${second.user_id}`],
      ] as const),
    ] as const) {
      const reply = await call(
        method,
        `${url}${path}`,
        method === 'PUT' ? body : undefined,
        outsider.token,
      )
      expect([method, path, ...outcome(reply)]).toEqual([
        method,
        path,
        404,
        'organization_not_found',
      ])
    }
    expect((await call('DELETE', url, undefined, second.token)).status).toBe(204)
    expect((await call('GET', url)).status).toBe(404)
  })

  test('with a project, also an archived one, is not deleted', async () => {
    const { url } = await twoOwners()
    const { body } = await call('POST', `${url}/projects`, { name: 'p' })
    expect(outcome(await call('DELETE', url))).toEqual([409, 'organization_not_empty'])
    await call('POST', `${access}/projects/${body.id}/archive`)
    expect(outcome(await call('DELETE', url))).toEqual([409, 'organization_not_empty'])
  })

  test('a member of another organization is not found in this one', async () => {
    const { url, second } = await twoOwners()
    const foreign = `${organization}/members/${second.user_id}`
    for (const reply of [
      await call('GET', foreign),
      await call('PUT', foreign, { role: 'admin' }),
      await call('DELETE', foreign),
      await call('GET', `${url}/members/${stranger_id}`),
    ]) {
      expect(outcome(reply)).toEqual([404, 'member_not_found'])
    }
    expect((await call('GET', `${url}/members/${second.user_id}`)).body.role).toBe('owner')
  })
})

describe('the last owner', () => {
  const last = [409, 'last_owner']
  test.each<
    [string, (url: string, email: string) => Promise<{ status: number; body: { code?: string } }>]
  >([
    ['does not leave', (url) => call('POST', `${url}/leave`)],
    ['is not removed', (url) => call('DELETE', `${url}/members/${owner_id}`)],
    ['is not demoted', (url) => call('PUT', `${url}/members/${owner_id}`, { role: 'admin' })],
    [
      'is not demoted by e-mail',
      (url, email) => call('POST', `${url}/members`, { email, role: 'member' }),
    ],
  ])('%s, also beside an owner who is disabled', async (_name, act) => {
    const { url, second } = await twoOwners()
    await call('POST', `${access}/users/${second.user_id}/disable`)
    expect(outcome(await act(url, app.first.admin_email))).toEqual(last)
    await call('POST', `${access}/users/${second.user_id}/enable`)
    expect((await act(url, app.first.admin_email)).status).toBeLessThan(300)
  })

  test('is not disabled', async () => {
    const { url, second } = await twoOwners()
    await call('POST', `${url}/leave`)
    const disable = () => call('POST', `${access}/users/${second.user_id}/disable`)
    expect(outcome(await disable())).toEqual(last)
    expect((await call('GET', '/probe/user', undefined, second.token)).status).toBe(200)
    await call('DELETE', url, undefined, second.token)
    expect((await disable()).status).toBe(200)
  })

  test('is not revealed to a stranger who tries to disable the account', async () => {
    const { url, second } = await twoOwners()
    await call('POST', `${url}/leave`)
    const { token } = await app.person(`nosy-${people}@example.com`, 'member')
    for (const id of [second.user_id, stranger_id]) {
      const reply = await call('POST', `${access}/users/${id}/disable`, undefined, token)
      expect(outcome(reply)).toEqual([403, 'permission_denied'])
    }
  })

  test.each<[string, (url: string, second: Person) => Promise<{ status: number }>[]]>([
    [
      'leave',
      (url, second) => [
        call('POST', `${url}/leave`),
        call('POST', `${url}/leave`, undefined, second.token),
      ],
    ],
    [
      'remove each other',
      (url, second) => [
        call('DELETE', `${url}/members/${second.user_id}`),
        call('DELETE', `${url}/members/${owner_id}`, undefined, second.token),
      ],
    ],
    [
      'leave and are disabled',
      (url, second) => [
        call('POST', `${url}/leave`),
        call('POST', `${access}/users/${second.user_id}/disable`),
      ],
    ],
  ])('of two owners who %s at once, one remains', async (_name, act) => {
    const { url, id, second } = await twoOwners()
    const { db } = app.relational
    const lock = (trx: typeof db) =>
      trx.selectFrom('organizations').select('id').where('id', '=', id).forUpdate().execute()
    const { both } = await whileLocked(db, lock, async () => {
      const both = act(url, second)
      await blocked(db, 2)
      return { both }
    })
    const statuses = (await Promise.all(both)).map(({ status }) => status)
    expect(statuses.filter((status) => status < 300)).toHaveLength(1)
    const { rows } = await app.relational.pool.query(
      `select count(*) as n from organization_members m join users u on u.id = m.user_id
       where organization_id = $1 and role = 'owner' and disabled_at is null`,
      [id],
    )
    expect(Number(rows[0].n)).toBe(1)
    await call('POST', `${access}/users/${second.user_id}/enable`)
  })
})

describe('limits of keys', () => {
  const project = () => `${access}/projects/${app.first.project_id}`
  const limitProject = (key_scopes: string[] | null, token = owner) =>
    call('PUT', `${project()}/settings`, { name: 'default', key_scopes }, token)
  const limitOrganization = (key_scopes: string[] | null) =>
    call('PUT', organization, { name: 'default', key_scopes })
  const makeKey = (body: object) => call('POST', `${project()}/api-keys`, { name: 'k', ...body })

  test('a new key, account or scope beyond the limit is refused, and the usual scopes are cut', async () => {
    await limitProject(['tasks:read', 'ingest:write'])
    await limitOrganization(['tasks:read', 'traces:read'])
    const beyond = await makeKey({ scopes: ['ingest:write', 'tasks:read'] })
    expect([beyond.status, beyond.body.errors]).toEqual([
      400,
      [{ pointer: '/scopes', detail: expect.stringContaining('got ingest:write,') }],
    ])
    const usual = await makeKey({})
    expect(usual.body.scopes).toEqual(['tasks:read'])
    const scopes = `${project()}/api-keys/${usual.body.id}/scopes`
    expect((await call('POST', scopes, { scopes: ['query:run'] })).status).toBe(400)
    const account = { name: 'limited', scopes: ['query:run'] }
    expect((await call('POST', `${access}/service-accounts`, account)).status).toBe(400)
    const made = await call('POST', `${access}/service-accounts`, { ...account, scopes: [] })
    const own = `${access}/service-accounts/${made.body.id}`
    expect((await call('PUT', own, account)).status).toBe(400)
    await limitProject(null)
    await limitOrganization(null)
    expect((await call('PUT', own, account)).status).toBe(200)
  })

  test('a key loses scopes beyond a later limit within 30 s, and gets them back without the limit', async () => {
    const { key } = (await makeKey({ scopes: ['tasks:read', 'ingest:write'] })).body
    const can = async () => (await app.call('GET', '/probe/either', { key })).status
    expect(await can()).toBe(200)
    await limitOrganization(['ingest:write'])
    app.clock.ahead_ms += 31_000
    expect(await can()).toBe(403)
    await limitOrganization(null)
    await limitProject([])
    app.clock.ahead_ms += 31_000
    expect(await can()).toBe(403)
    await limitProject(null)
    app.clock.ahead_ms += 31_000
    expect(await can()).toBe(200)
  })

  test('an admin of the project alone does not change the limit that binds them', async () => {
    const { user_id, token } = await person()
    await call('PUT', `${project()}/members/${user_id}`, { role: 'admin' })
    await limitProject(['tasks:read'])
    expect(outcome(await limitProject(null, token))).toEqual([403, 'permission_denied'])
    expect((await limitProject(['tasks:read'], token)).status).toBe(200)
    await limitProject(null)
  })

  test('one key is read without its secret, with expiry and last use; not in another project', async () => {
    const expires_at = new Date(app.clock.now_ms() + 60_000).toISOString()
    const made = (await makeKey({ scopes: ['tasks:read'], expires_at })).body
    const url = `${project()}/api-keys/${made.id}`
    expect((await call('GET', url)).body).toMatchObject({ expires_at, last_used_at: null })
    expect((await app.call('GET', '/probe/either', { key: made.key })).status).toBe(200)
    await app.access.close()
    const used = await call('GET', url)
    expect(used.body.last_used_at).not.toBeNull()
    expect(used.text).not.toContain(made.key)
    app.clock.ahead_ms += 61_000
    expect((await app.call('GET', '/probe/either', { key: made.key })).status).toBe(401)
    const { url: other } = await twoOwners()
    const second = (await call('POST', `${other}/projects`, { name: 'p' })).body.id
    const foreign = `${access}/projects/${second}/api-keys/${made.id}`
    expect(outcome(await call('GET', foreign))).toEqual([404, 'api_key_not_found'])
  })
})

describe('administrators of the installation', () => {
  const administrator = (user_id: string, installation_admin: boolean, token = owner) =>
    call('PUT', `${access}/users/${user_id}/administrator`, { installation_admin }, token)

  test('are made and ended by administrators, and see no project by it', async () => {
    const outsider = await person()
    expect(outcome(await administrator(outsider.user_id, true, outsider.token))).toEqual([
      403,
      'permission_denied',
    ])
    await call('DELETE', `${organization}/members/${outsider.user_id}`)
    const made = await administrator(outsider.user_id, true)
    expect([made.status, made.body.installation_admin]).toEqual([200, true])
    const { token } = outsider
    expect((await call('GET', `${access}/users/${owner_id}`, undefined, token)).status).toBe(200)
    expect((await call('GET', `${access}/projects`, undefined, token)).body.total).toBe(0)
    expect((await call('GET', `${access}/organizations`, undefined, token)).body.total).toBe(0)
    const project = `${access}/projects/${app.first.project_id}`
    expect(outcome(await call('GET', project, undefined, token))).toEqual([
      404,
      'project_not_found',
    ])
    expect((await call('GET', organization, undefined, token)).status).toBe(404)
    const headers = { 'x-project-id': app.first.project_id }
    expect((await app.call('GET', '/probe/jwt', { token, headers })).status).toBe(404)
    const mine = await call('POST', `${access}/organizations`, { name: 'of an admin' }, token)
    expect([mine.status, mine.body.role]).toEqual([201, 'owner'])
    expect((await administrator(outsider.user_id, false)).body.installation_admin).toBe(false)
    expect((await call('GET', `${access}/users/${owner_id}`, undefined, token)).status).toBe(403)
    expect(outcome(await administrator(stranger_id, true))).toEqual([404, 'user_not_found'])
  })

  test('of whom one remains, also when two end each other at once', async () => {
    expect(outcome(await administrator(owner_id, false))).toEqual([409, 'last_administrator'])
    const second = await person()
    await administrator(second.user_id, true)
    await call('POST', `${access}/users/${second.user_id}/disable`)
    expect(outcome(await administrator(owner_id, false))).toEqual([409, 'last_administrator'])
    await call('POST', `${access}/users/${second.user_id}/enable`)
    const token = await app.signIn(`person-${people}@example.com`, 'correct horse battery')
    const both = await Promise.all([
      administrator(second.user_id, false),
      administrator(owner_id, false, token),
    ])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 403])
    const survivor = both[0]?.status === 200 ? owner : token
    if (survivor !== owner) await administrator(owner_id, true, survivor)
  })

  test('read one user; a stranger is not found', async () => {
    const { user_id } = await person()
    const one = await call('GET', `${access}/users/${user_id}`)
    expect(one.body).toMatchObject({ id: user_id, installation_admin: false, has_password: true })
    expect(one.text).not.toContain('scrypt')
    expect(outcome(await call('GET', `${access}/users/${stranger_id}`))).toEqual([
      404,
      'user_not_found',
    ])
  })
})

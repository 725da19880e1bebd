import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccessApp, callsAs, outcome, startAccessApp } from '../support/access-app.ts'
import { blocked, whileLocked } from '../support/row-locks.ts'

const root = '/api/v2/access'
const stranger = '01890000-0000-7000-8000-000000000000'
let app: AccessApp
let owner: string
let members: string
let projects: string

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  members = `${root}/organizations/${app.first.organization_id}/members`
  projects = `${root}/organizations/${app.first.organization_id}/projects`
})
afterAll(() => app.close())

const { get, post, put, remove } = callsAs(() => ({ app, token: owner }))

describe('organizations', () => {
  test('their creator owns them', async () => {
    const made = await post(`${root}/organizations`, { name: '  Acme  ' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'Acme', role: 'owner' })
    const listed = await get(`${root}/organizations`)
    expect(listed.body.organizations).toContainEqual(made.body)
  })

  test('their name is unique', async () => {
    await post(`${root}/organizations`, { name: 'taken' })
    const again = await post(`${root}/organizations`, { name: 'taken' })
    expect(outcome(again)).toEqual([409, 'name_taken'])
  })

  test('a plain member cannot create one', async () => {
    const { token } = await app.person('mere@example.com', 'member')
    const reply = await post(`${root}/organizations`, { name: 'mine' }, { token })
    expect(outcome(reply)).toEqual([403, 'permission_denied'])
  })

  test('people see only their own', async () => {
    const other = await post(`${root}/organizations`, { name: 'secret' })
    const { token } = await app.person('looker@example.com', 'admin')
    const { body } = await get(`${root}/organizations`, { token })
    expect(body.organizations).toHaveLength(1)
    expect(body.total).toBe(1)
    expect(JSON.stringify(body)).not.toContain(other.body.id)
  })

  test.each([
    ['nothing', undefined],
    ['an empty name', { name: '   ' }],
    ['a long name', { name: 'x'.repeat(101) }],
    ['control characters', { name: 'a\u0000b' }],
    ['a field too many', { name: 'a', id: stranger }],
  ])('%s is a bad request', async (_name, body) => {
    expect(outcome(await post(`${root}/organizations`, body))).toEqual([400, 'invalid_request'])
  })
})

describe('members of an organization', () => {
  test('a member gets another role at once', async () => {
    const { user_id } = await app.person('new@example.com', 'member')
    const changed = await post(members, { email: 'New@Example.com', role: 'admin' })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({ user_id, email: 'new@example.com', role: 'admin' })
  })

  test('an admin adds members and admins but no owners, and does not change owners', async () => {
    const { token } = await app.person('admin@example.com', 'admin')
    const as = (email: string, role: string) => post(members, { email, role }, { token })
    expect((await as('one@example.com', 'admin')).status).toBe(201)
    expect(outcome(await as('one@example.com', 'owner'))).toEqual([403, 'permission_denied'])
    expect(outcome(await as(app.first.admin_email, 'member'))).toEqual([403, 'permission_denied'])
    const listed = await get(members, { token })
    const first = listed.body.members.find(({ role }: { role: string }) => role === 'owner')
    expect(outcome(await remove(`${members}/${first.user_id}`, { token }))).toEqual([
      403,
      'permission_denied',
    ])
  })

  test('an organization keeps an owner, also when all of them leave at once', async () => {
    const own = await startAccessApp()
    const url = `${root}/organizations/${own.first.organization_id}/members`
    const token = await own.signIn(own.first.admin_email, own.first.admin_password)
    const leave = (email: string, as: string) =>
      own.call('POST', url, { token: as, body: { email, role: 'member' } })
    expect(outcome(await leave(own.first.admin_email, token))).toEqual([409, 'last_owner'])
    const emails = ['b@example.com', 'c@example.com', 'd@example.com', 'e@example.com']
    const others = await Promise.all(emails.map((email) => own.person(email, 'owner')))
    const { db } = own.relational
    // No member's row can be written until all requests have started.
    const rows = (trx: typeof db) =>
      trx.selectFrom('organization_members').select('user_id').forUpdate().execute()
    const leaving = await whileLocked(db, rows, async () => {
      const all = emails.map((email, at) => leave(email, others[at]?.token ?? ''))
      all.push(leave(own.first.admin_email, token))
      await blocked(db, all.length)
      return { all }
    })
    const replies = await Promise.all(leaving.all)
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 409])
    const owners = await db
      .selectFrom('organization_members')
      .select('user_id')
      .where('role', '=', 'owner')
      .execute()
    expect(owners).toHaveLength(1)
    await own.close()
  })

  test('a removed person is out of the projects too', async () => {
    const { user_id, token } = await app.person('leaver@example.com', 'member')
    const project = `${root}/projects/${app.first.project_id}`
    await put(`${project}/members/${user_id}`, { role: 'editor' })
    expect((await get(project, { token })).body.role).toBe('editor')
    expect((await remove(`${members}/${user_id}`)).status).toBe(204)
    expect(outcome(await get(project, { token }))).toEqual([404, 'project_not_found'])
    expect(outcome(await remove(`${members}/${user_id}`))).toEqual([404, 'member_not_found'])
    const invited = await post(members, { email: 'leaver@example.com', role: 'member' })
    const body = { token: invited.body.token }
    expect(
      (await app.call('POST', '/api/v1/auth/invitations/accept', { token, body })).status,
    ).toBe(200)
    expect(outcome(await get(project, { token }))).toEqual([404, 'project_not_found'])
  })

  test.each([
    ['no e-mail', { email: 'somebody', role: 'member' }],
    ['no role', { email: 'a@example.com' }],
    ['an unknown role', { email: 'a@example.com', role: 'root' }],
    ['a password', { email: 'a@example.com', role: 'member', initial_password: 'hunter2' }],
  ])('%s is a bad request', async (_name, body) => {
    const reply = await post(members, body)
    expect(outcome(reply)).toEqual([400, 'invalid_request'])
    expect(reply.text).not.toContain('hunter2')
  })

  test('a list is paged', async () => {
    const all = await get(members)
    const seen: string[] = []
    let url: string | undefined = `${members}?limit=2`
    for (let page = 0; url !== undefined && page < 20; page += 1) {
      const { body } = await get(url)
      expect(body.members.length).toBeLessThanOrEqual(2)
      expect(body.total).toBe(all.body.total)
      seen.push(...body.members.map(({ email }: { email: string }) => email))
      url = body.next_cursor === null ? undefined : `${members}?limit=2&cursor=${body.next_cursor}`
    }
    expect(seen).toEqual(all.body.members.map(({ email }: { email: string }) => email))
    expect(new Set(seen).size).toBe(all.body.total)
  })

  test.each([
    ['limit=0', 'invalid_request'],
    ['limit=1001', 'invalid_request'],
    ['page=2', 'invalid_request'],
    ['cursor=nonsense', 'invalid_cursor'],
    [
      `cursor=${Buffer.from('["organization members","no id"]').toString('base64url')}`,
      'invalid_cursor',
    ],
    [`cursor=${Buffer.from(`["projects","${stranger}"]`).toString('base64url')}`, 'invalid_cursor'],
  ])('?%s is refused', async (query, code) => {
    expect(outcome(await get(`${members}?${query}`))).toEqual([400, code])
  })
})

describe('projects', () => {
  test('one is created by an admin of the organization and seen by people with a role', async () => {
    const made = await post(projects, { name: 'agents' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'agents',
      organization_id: app.first.organization_id,
      role: 'admin',
    })
    const { token, user_id } = await app.person('seer@example.com', 'member')
    expect((await get(projects, { token })).body).toMatchObject({ projects: [], total: 0 })
    await put(`${root}/projects/${made.body.id}/members/${user_id}`, { role: 'viewer' })
    const seen = await get(projects, { token })
    expect(seen.body.projects).toEqual([{ ...made.body, role: 'viewer' }])
    expect((await get(`${root}/projects`, { token })).body.projects).toEqual(seen.body.projects)
    expect(outcome(await post(projects, { name: 'mine' }, { token }))).toEqual([
      403,
      'permission_denied',
    ])
  })

  test('its name is unique in an organization', async () => {
    await post(projects, { name: 'twice' })
    expect(outcome(await post(projects, { name: 'twice' }))).toEqual([409, 'name_taken'])
    const other = await post(`${root}/organizations`, { name: 'another' })
    const url = `${root}/organizations/${other.body.id}/projects`
    expect((await post(url, { name: 'twice' })).status).toBe(201)
  })

  test('an idempotency key creates one, for any number of retries', async () => {
    const headers = { 'idempotency-key': 'make-it-once' }
    const first = await post(projects, { name: 'once' }, { headers })
    const again = await post(projects, { name: 'once' }, { headers })
    expect([again.status, again.body]).toEqual([201, first.body])
  })
})

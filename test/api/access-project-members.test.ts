import { afterAll, beforeAll, expect, test } from 'vitest'
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

type Row = { organization_role: string }

test("the list has its members and the organization's administrators", async () => {
  const { body: project } = await post(projects, { name: 'team' })
  const { user_id } = await app.person('worker@example.com', 'member')
  const url = `${root}/projects/${project.id}/members`
  const set = await put(`${url}/${user_id}`, { role: 'editor' })
  expect([set.status, set.body]).toEqual([
    200,
    {
      user_id,
      email: 'worker@example.com',
      display_name: 'worker@example.com',
      role: 'editor',
      project_role: 'editor',
      organization_role: 'member',
      version: 1,
    },
  ])
  const { body } = await get(url)
  expect(body.members).toContainEqual(set.body)
  const first = body.members.find(({ organization_role: role }: Row) => role === 'owner')
  expect(first).toMatchObject({ role: 'admin', project_role: null })
  expect((await put(`${url}/${user_id}`, { role: 'viewer' })).body.role).toBe('viewer')
  expect((await remove(`${url}/${user_id}`)).status).toBe(204)
  expect(outcome(await remove(`${url}/${user_id}`))).toEqual([404, 'member_not_found'])
})

test('only members of the organization can be added', async () => {
  const other = await post(`${root}/organizations`, { name: 'other people' })
  const outsider = await app.person('foreigner@example.com', 'member', other.body.id)
  const url = `${root}/projects/${app.first.project_id}/members`
  for (const id of [outsider.user_id, stranger]) {
    const reply = await put(`${url}/${id}`, { role: 'viewer' })
    expect(outcome(reply)).toEqual([404, 'member_not_found'])
  }
})

test('a role in one organization moves no calls of a person of two to its project', async () => {
  const theirs = await post(`${root}/organizations`, { name: 'home of two' })
  const { user_id } = await app.person('of-two@example.com', 'member', theirs.body.id)
  const home = await post(`${root}/organizations/${theirs.body.id}/projects`, { name: 'home' })
  await put(`${root}/projects/${home.body.id}/members/${user_id}`, { role: 'viewer' })
  const { db } = app.relational
  const organization_id = app.first.organization_id
  await db
    .updateTable('users')
    .set({ default_project_id: home.body.id })
    .where('id', '=', user_id)
    .execute()
  await db
    .insertInto('organization_members')
    .values({ organization_id, user_id, role: 'member', created_at: new Date() })
    .execute()
  const { body: project } = await post(projects, { name: 'of an attacker' })
  const url = `${root}/projects/${project.id}/members/${user_id}`
  for (const role of ['viewer', 'editor']) expect((await put(url, { role })).status).toBe(200)
  const user = db.selectFrom('users').select('default_project_id').where('id', '=', user_id)
  expect(await user.executeTakeFirst()).toEqual({ default_project_id: home.body.id })
})

test('nothing of a person of another organization changes', async () => {
  const other = await post(`${root}/organizations`, { name: 'untouched people' })
  const { user_id } = await app.person('untouched@example.com', 'member', other.body.id)
  const { body: project } = await post(`${root}/organizations/${other.body.id}/projects`, {
    name: 'theirs',
  })
  await put(`${root}/projects/${project.id}/members/${user_id}`, { role: 'viewer' })
  const user = () =>
    app.relational.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', user_id)
      .executeTakeFirstOrThrow()
  const before = await user()
  const url = `${root}/projects/${app.first.project_id}/members/${user_id}`
  const request_id = 'of-a-foreign-person'
  const headers = { 'x-request-id': request_id }
  expect((await put(url, { role: 'viewer' }, { headers })).status).toBe(404)
  expect(await user()).toEqual(before)
  const records = await app.relational.db
    .selectFrom('audit_records')
    .select('outcome')
    .where('request_id', '=', request_id)
    .execute()
  expect(records).toEqual([{ outcome: 'refused' }])
})

test('a person who is removed from the organization while being added does not stay in it', async () => {
  const { user_id } = await app.person('racer@example.com', 'member')
  const { db } = app.relational
  const { project_id } = app.first
  // Adding a person locks their row: the request has read the membership, and waits to write.
  const project = (trx: typeof db) =>
    trx.selectFrom('projects').select('id').where('id', '=', project_id).forUpdate().execute()
  const racing = await whileLocked(db, project, async () => {
    const added = put(`${root}/projects/${project_id}/members/${user_id}`, { role: 'viewer' })
    await blocked(db, 1)
    const removed = remove(`${members}/${user_id}`)
    await Promise.race([removed, blocked(db, 2)])
    return { both: [added, removed] }
  })
  const statuses = (await Promise.all(racing.both)).map(({ status }) => status)
  expect(statuses).toEqual([200, 204])
  const left = db.selectFrom('project_members').select('user_id').where('user_id', '=', user_id)
  expect(await left.execute()).toEqual([])
})

test('a project admin sets roles, an editor does not', async () => {
  const url = `${root}/projects/${app.first.project_id}/members`
  const [lead, editor] = await Promise.all([
    app.person('lead@example.com', 'member'),
    app.person('editor@example.com', 'member'),
  ])
  await put(`${url}/${lead.user_id}`, { role: 'admin' })
  const set = await put(`${url}/${editor.user_id}`, { role: 'editor' }, { token: lead.token })
  expect(set.status).toBe(200)
  for (const reply of [
    await get(url, { token: editor.token }),
    await put(`${url}/${editor.user_id}`, { role: 'admin' }, { token: editor.token }),
  ]) {
    expect(outcome(reply)).toEqual([403, 'permission_denied'])
  }
})

test('a project admin invites to the own project only, and the person becomes a member', async () => {
  const lead = await app.person('inviter@example.com', 'member')
  const url = `${root}/projects/${app.first.project_id}/members`
  await put(`${url}/${lead.user_id}`, { role: 'admin' })
  const invite = (at: string, body: unknown) => app.call('POST', at, { token: lead.token, body })
  const { body: other } = await post(projects, { name: 'closed' })
  const email = 'guest@example.com'
  const hidden = await invite(`${root}/projects/${other.id}/members`, { email, role: 'viewer' })
  expect(outcome(hidden)).toEqual([404, 'project_not_found'])
  const denied = await invite(members, { email, role: 'member' })
  expect(outcome(denied)).toEqual([403, 'permission_denied'])
  const invited = await invite(url, { email, role: 'editor' })
  expect(invited.status).toBe(201)
  expect(invited.body).toMatchObject({
    role: 'member',
    projects: [{ project_id: app.first.project_id, role: 'editor' }],
  })
  const accept = (token: string) =>
    app.call('POST', '/api/v1/auth/invitations/accept', {
      body: { token, display_name: 'Guest', password: 'a password of mine' },
    })
  const { body: guest } = await accept(invited.body.token)
  const { access_token: token } = guest.tokens
  expect((await get(`${root}/projects/${app.first.project_id}`, { token })).body.role).toBe(
    'editor',
  )
  expect((await get(`${root}/projects/${other.id}`, { token })).status).toBe(404)
  // A person who can see the project gets the role at once.
  const raised = await invite(url, { email, role: 'admin' })
  expect([raised.status, raised.body.user_id]).toEqual([200, guest.user_id])
  // The invitation of somebody who is no project admin any more has ended.
  const late = await invite(url, { email: 'late@example.com', role: 'admin' })
  await put(`${url}/${lead.user_id}`, { role: 'editor' })
  expect(outcome(await accept(late.body.token))).toEqual([404, 'invitation_not_found'])
  expect(outcome(await invite(url, { email, role: 'viewer' }))).toEqual([403, 'permission_denied'])
})

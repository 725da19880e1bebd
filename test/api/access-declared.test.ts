import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { outcome } from '../support/access-app.ts'
import {
  type DeclaredAccess,
  declarer,
  accessRoot as root,
  startDeclaredAccess,
} from '../support/declared-access.ts'
import { eventually } from '../support/eventually.ts'

/** Projects and members that custom resources declare. */
let app: DeclaredAccess['app']
let plain: DeclaredAccess['plain']
let on: DeclaredAccess
let organization_id: string
let project: string

beforeAll(async () => {
  on = await startDeclaredAccess()
  ;({ app, plain, organization_id, project } = on)
})
/** A namespace sends a limited number of links per minute. */
beforeEach(() => {
  on.passMinute()
  on.failMails()
})
afterAll(() => on?.close())

const ownerOf = (name: string) => declarer('ProjectMember', name)
const url = () => `${root}/projects/${project}/declared-members`

describe('a declared member', () => {
  test('is invited by mail, accepts, changes the role, and ends with the declaration', async () => {
    const email = 'new@example.com'
    const invited = await on.declare('new', email)
    expect(invited.status).toBe(200)
    expect(invited.body).toMatchObject({ email, role: 'viewer', status: 'invited' })
    expect(invited.text).not.toContain('lti_')
    expect(await on.roleOf(email)).toBeUndefined()
    expect((await on.accept(on.mailed(email))).status).toBe(201)
    expect(await on.read('new')).toMatchObject({ status: 'accepted', member_role: 'viewer' })
    expect((await on.declare('new', email, { role: 'editor' })).body.member_role).toBe('editor')
    expect([await on.roleOf(email), await on.isInOrganization(email)]).toEqual(['editor', true])
    expect((await on.end('new')).status).toBe(204)
    expect([await on.roleOf(email), await on.isInOrganization(email)]).toEqual([undefined, false])
    expect((await on.end('new')).status).toBe(204)
  })

  test('stays with retain', async () => {
    const email = 'kept@example.com'
    await on.declare('kept', email)
    await on.accept(on.mailed(email))
    await on.end('kept', { retain: true })
    expect([await on.roleOf(email), await on.isInOrganization(email)]).toEqual(['viewer', true])
  })

  test('gets the same reply, whether or not the person has an account or a role', async () => {
    await plain.person('somebody@example.com', 'admin')
    const replies = await Promise.all(
      ['somebody', 'nobody'].map((name) => on.declare(name, `${name}@example.com`)),
    )
    const shown = replies.map(({ status, body }) => [status, { ...body, id: '', email: '' }])
    const same = shown.map(([status, body]) => [
      status,
      { ...(body as object), managed_by: '', expires_at: '' },
    ])
    expect(same[0]).toEqual(same[1])
    expect(await on.roleOf('somebody@example.com')).toBeNull()
  })

  test('whose role a person gave keeps that role, also after the declaration', async () => {
    const email = 'given@example.com'
    const { user_id, token } = await plain.person(email, 'member')
    const members = `${root}/projects/${project}/members/${user_id}`
    await app.call('PUT', members, { token: on.owner, body: { role: 'admin' } })
    await on.declare('given', email)
    expect((await on.acceptAs(on.mailed(email), token)).status).toBe(200)
    expect(await on.roleOf(email)).toBe('admin')
    await on.declare('given', email, { role: 'editor' })
    await on.end('given')
    expect([await on.roleOf(email), await on.isInOrganization(email)]).toEqual(['admin', true])
  })

  test('of two resources keeps the role of the other when one ends', async () => {
    const email = 'shared@example.com'
    await on.declare('shared', email, { role: 'editor' })
    const first = on.mailed(email)
    await on.declare('shared', email, { namespace: 'team-b' })
    expect((await on.accept(first)).status).toBe(201)
    const token = await app.signIn(email, 'a password of mine')
    expect((await on.acceptAs(on.mailed(email), token)).status).toBe(200)
    await on.end('shared', { namespace: 'team-b' })
    expect(await on.roleOf(email)).toBe('editor')
    // Resources may send an address two invitations a day.
    await on.passDay()
    await on.declare('shared', email, { namespace: 'team-b' })
    await on.acceptAs(on.mailed(email), await on.app.signIn(email, 'a password of mine'))
    await on.end('shared')
    expect(await on.roleOf(email)).toBe('viewer')
  })

  test('whom a person removed is not given a role again', async () => {
    const email = 'removed@example.com'
    await on.declare('removed', email)
    const { user_id } = (await on.accept(on.mailed(email))).body
    const members = `${root}/projects/${project}/members/${user_id}`
    expect((await app.call('DELETE', members, { token: on.owner })).status).toBe(204)
    const again = await on.declare('removed', email, { role: 'admin' })
    expect(again.body).toMatchObject({ status: 'ended', member_role: null })
    expect(await on.roleOf(email)).toBeUndefined()
  })

  test('who claims an account gets the project as default, instead of that of the first holder', async () => {
    const email = 'claimed@example.com'
    const token = on.owner
    const organizations = `${root}/organizations`
    const other = (await plain.call('POST', organizations, { token, body: { name: 'b' } })).body.id
    const createProject = (name: string) =>
      plain.call('POST', `${organizations}/${other}/projects`, { token, body: { name } })
    const trap = (await createProject('trap')).body.id
    const body = { email, role: 'admin' }
    const invited = await plain.call('POST', `${organizations}/${other}/members`, { token, body })
    const first = await on.accept(invited.body.token)
    await createProject('another')
    const defaultFor = async ({ body: { tokens } }: typeof first) =>
      (await app.call('GET', '/probe/jwt', { token: tokens.access_token })).body.project_id
    expect(await defaultFor(first)).toBe(trap)
    await on.declare('claimed', email)
    expect(await defaultFor(await on.accept(on.mailed(email)))).toBe(project)
  })

  const locks = {
    invitation: 'select 1 from invitations where accepted_by = $1 for update',
    project: 'select 1 from project_members where user_id = $1 for update',
    organization: 'select 1 from organization_members where user_id = $1 for update',
  }

  test.each([
    ['removes', 'DELETE', [locks.invitation, locks.project], 204],
    ['changes', 'PUT', [locks.project, locks.organization], 200],
  ] as const)(
    'whom a person %s during a reconciliation waits for it',
    async (what, method, [first, second], status) => {
      const email = `${what}@example.com`
      await on.declare(what, email)
      const { user_id } = (await on.accept(on.mailed(email))).body
      const { pool } = app.relational
      const reconciling = await pool.connect()
      await reconciling.query('begin')
      await reconciling.query('select 1 from organizations where id = $1 for update', [
        organization_id,
      ])
      await reconciling.query(first, [user_id])
      const path = `${root}/projects/${project}/members/${user_id}`
      const body = method === 'PUT' ? { role: 'editor' } : undefined
      const changing = app.call(method, path, { token: on.owner, body })
      const waiting = `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      await eventually('a wait', async () => (await pool.query(waiting)).rows[0]?.n > 0)
      // In the other order this statement and the change would wait for each other.
      await reconciling.query(second, [user_id])
      await reconciling.query('commit')
      reconciling.release()
      expect((await changing).status).toBe(status)
    },
  )

  test('ends no invitation by a person, and no person ends it by inviting', async () => {
    const email = 'both@example.com'
    await on.declare('both', email)
    const by_resource = on.mailed(email)
    const members = `${root}/projects/${project}/members`
    const body = { email, role: 'editor' }
    expect((await app.call('POST', members, { token: on.owner, body })).status).toBe(201)
    const by_person = on.mailed(email)
    await on.declare('both', email, { namespace: 'team-b' })
    expect((await on.accept(by_resource)).status).toBe(201)
    expect(await on.roleOf(email)).toBe('viewer')
    const token = await app.signIn(email, 'a password of mine')
    expect((await on.acceptAs(by_person, token)).status).toBe(200)
    await on.end('both')
    expect(await on.roleOf(email)).toBe('editor')
  })

  test('leaves the people of the organization their invitations: limits are per project', async () => {
    const names = Array.from({ length: 21 }, (_one, n) => `many-${n}`)
    const replies = []
    for (const name of names) replies.push(await on.declare(name, `${name}@example.com`))
    expect(outcome(replies.at(-1) ?? { status: 0, body: {} })).toEqual([429, 'rate_limited'])
    const body = { email: 'person@example.com', role: 'viewer' }
    const members = `${root}/projects/${project}/members`
    expect((await app.call('POST', members, { token: on.owner, body })).status).toBe(201)
    for (const name of names) await on.end(name)
  })

  test('is mailed by the next call if a mail failed', async () => {
    const email = 'later@example.com'
    on.failMails(new Error('the mail server is away'))
    expect(outcome(await on.declare('later', email))).toEqual([503, 'mail_unavailable'])
    expect(await on.read('later')).toMatchObject({ status: 'link_not_sent' })
    on.failMails()
    expect((await on.declare('later', email)).body.status).toBe('invited')
    expect((await on.accept(on.mailed(email))).status).toBe(201)
  })

  test('without a mail server gets no link by the operator, only by an administrator', async () => {
    const body = { email: 'x@example.com', role: 'viewer', managed_by: ownerOf('x') }
    const declared = await plain.call('PUT', url(), { key: plain.operator_key, body })
    expect(declared.body).toMatchObject({ status: 'link_not_sent' })
    expect(declared.text).not.toContain('lti_')
    const invitations = `${root}/organizations/${organization_id}/invitations`
    const resend = `${invitations}/${declared.body.id}/resend`
    const sent = await plain.call('POST', resend, { token: on.owner })
    expect(sent.body.token).toMatch(/^lti_/)
    expect((await on.read('x')).status).toBe('invited')
    expect((await on.accept(sent.body.token)).status).toBe(201)
  })
})

test('only an operator declares, for a resource that it names', async () => {
  const member = { email: 'no@example.com', role: 'viewer' }
  const managed_by = ownerOf('no')
  const about = { organization: 'default', name: 'mine' }
  const id = '5c0d0f5e-6a55-5d0b-9c0e-2f6f2e1f6b7a'
  for (const [path, body] of [
    [url(), member],
    [`${root}/projects/${id}`, about],
  ] as const) {
    const asOwner = await app.call('PUT', path, { token: on.owner, body })
    expect(outcome(asOwner)).toEqual([403, 'permission_denied'])
    const named = await app.call('PUT', path, { token: on.owner, body: { ...body, managed_by } })
    expect(outcome(named)).toEqual([400, 'invalid_request'])
    const unnamed = await app.call('PUT', path, { key: plain.operator_key, body })
    expect(outcome(unnamed)).toEqual([400, 'invalid_request'])
  }
  const removed = await app.call('DELETE', `${root}/projects/${project}`, { token: on.owner })
  expect(outcome(removed)).toEqual([403, 'permission_denied'])
})

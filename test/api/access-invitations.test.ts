import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'
import { blocked, whileLocked } from '../support/row-locks.ts'

const root = '/api/v2/access/organizations'
const links = '/api/v1/auth/invitations'
let app: AccessApp
/** Owner of both organizations. */
let owner: string
/** The first organization, and another tenant's. */
let a: string
let b: string
/** Admin of the other organization only. */
let rival: string

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  a = app.first.organization_id
  b = (await app.call('POST', root, { token: owner, body: { name: 'b' } })).body.id
  rival = (await app.person('rival@b.example', 'admin', b)).token
})
/** An organization sends a limited number of links per minute. */
beforeEach(() => {
  app.clock.ahead_ms += 61_000
})
afterAll(() => app.close())

type Invited = { email: string; role?: string; projects?: unknown }
const invite = (organization: string, body: Invited, token = owner) =>
  app.call('POST', `${root}/${organization}/members`, { token, body: { role: 'member', ...body } })
const invitations = (organization: string, token = owner) =>
  app.call('GET', `${root}/${organization}/invitations`, { token })
const revoke = (organization: string, id: string, token = owner) =>
  app.call('DELETE', `${root}/${organization}/invitations/${id}`, { token })
const resend = (organization: string, id: string, token = owner) =>
  app.call('POST', `${root}/${organization}/invitations/${id}/resend`, { token })
const lookUp = (token: string) => app.call('POST', `${links}/lookup`, { body: { token } })
const accept = (token: string, password = 'a password of mine') =>
  app.call('POST', `${links}/accept`, { body: { token, display_name: 'Me', password } })
const acceptAs = (token: string, as: string) =>
  app.call('POST', `${links}/accept`, { token: as, body: { token } })
const gone = [404, 'invitation_not_found']

test('the link of one person does not work for another', async () => {
  const { token } = (await invite(a, { email: 'meant@example.com' })).body
  expect(outcome(await acceptAs(token, rival))).toEqual([403, 'permission_denied'])
  expect(outcome(await acceptAs(token, 'no.valid.token'))).toEqual([401, 'credentials_invalid'])
  expect((await accept(token)).status).toBe(201)
})

test('an invitation says nothing about accounts: same reply, same statements', async () => {
  await app.person('known@example.com', 'member')
  const statements: string[] = []
  const watched = new WeakSet()
  app.relational.pool.on('acquire', (client) => {
    if (watched.has(client)) return
    watched.add(client)
    const { query } = client
    client.query = ((...given: [unknown]) => {
      statements.push(String(Reflect.get(Object(given[0]), 'text') ?? given[0]))
      return Reflect.apply(query, client, given)
    }) as typeof query
  })
  const shapeOf = async (email: string) => {
    statements.length = 0
    const { status, body } = await invite(b, { email }, rival)
    const { id, email: _email, token, created_at, expires_at, ...rest } = body
    return { status, rest, shown: [id, token].map((text) => text.length), seen: [...statements] }
  }
  await shapeOf('first@example.com')
  const known = await shapeOf('known@example.com')
  const unknown = await shapeOf('unknown@example.com')
  expect(known.seen.length).toBeGreaterThan(5)
  expect(known).toEqual(unknown)
  app.relational.pool.removeAllListeners('acquire')
  expect(known.rest).toMatchObject({ status: 'pending', delivery: 'link', accept_url: null })
})

describe('a link', () => {
  test('shows organization, e-mail and role, and an unknown one nothing', async () => {
    const { token } = (await invite(a, { email: 'shown@example.com', role: 'admin' })).body
    const shown = await lookUp(token)
    const role = 'admin'
    expect(shown.body).toEqual({ organization: 'default', email: 'shown@example.com', role })
    expect(shown.headers['cache-control']).toBe('no-store')
    for (const other of ['x', 'lti_'.padEnd(47, 'x'), '\u0000', token.toUpperCase()]) {
      expect(outcome(await lookUp(other))).toEqual(gone)
    }
    // No route has the token in its path, where a proxy would log it.
    const inPath = await app.call('GET', `${links}/${token}`)
    expect(outcome(inPath)).toEqual([404, 'route_not_found'])
    expect(app.logged()).not.toContain(token)
    const rows = await app.relational.db.selectFrom('invitations').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(token)
  })

  test('works once, also for concurrent calls', async () => {
    const { token } = (await invite(a, { email: 'race@example.com' })).body
    const { db } = app.relational
    const lock = (trx: typeof db) =>
      trx.selectFrom('organizations').select('id').where('id', '=', a).forUpdate().execute()
    const { all } = await whileLocked(db, lock, async () => {
      const all = ['one', 'two', 'three'].map((word) => accept(token, `the password ${word}`))
      await blocked(db, 3)
      return { all }
    })
    const replies = (await Promise.all(all)).map(outcome).toSorted()
    expect(replies).toEqual([[201, undefined], gone, gone])
    expect(outcome(await accept(token))).toEqual(gone)
  })

  test('ends when it is revoked, resent, replaced or expired', async () => {
    const revoked = (await invite(a, { email: 'revoked@example.com' })).body
    expect((await revoke(a, revoked.id)).status).toBe(204)
    expect(outcome(await revoke(a, revoked.id))).toEqual(gone)
    expect(outcome(await resend(a, revoked.id))).toEqual(gone)
    const old = (await invite(a, { email: 'resent@example.com' })).body
    const renewed = (await resend(a, old.id)).body
    expect(renewed).toMatchObject({ id: old.id, status: 'pending' })
    const replaced = (await invite(a, { email: 'replaced@example.com', role: 'admin' })).body
    const instead = (await invite(a, { email: 'replaced@example.com' })).body
    for (const { token } of [revoked, old, replaced])
      expect(outcome(await accept(token))).toEqual(gone)
    expect((await accept(renewed.token)).status).toBe(201)
    expect((await accept(instead.token)).body.role).toBe('member')
    const late = (await invite(a, { email: 'late@example.com' })).body
    app.clock.ahead_ms += 7 * 24 * 3_600_000
    expect(outcome(await accept(late.token))).toEqual(gone)
    const listed = (
      await app.call('GET', `${root}/${a}/invitations?limit=1000`, {
        token: await app.signIn(app.first.admin_email, app.first.admin_password),
      })
    ).body.invitations
    const states = listed.map(({ email, status }: { email: string; status: string }) => [
      email,
      status,
    ])
    expect(states).toEqual(
      expect.arrayContaining([
        ['revoked@example.com', 'revoked'],
        ['resent@example.com', 'accepted'],
        ['late@example.com', 'expired'],
      ]),
    )
    app.clock.ahead_ms -= 7 * 24 * 3_600_000
  })

  test.each([
    ['is no member any more', 'delete from organization_members where user_id = $1'],
    ['lost the role', "update organization_members set role = 'member' where user_id = $1"],
    ['is disabled', 'update users set disabled_at = now() where id = $1'],
  ])('ends when its inviter %s', async (name, change) => {
    const { user_id, token } = await app.person(`${name.replaceAll(' ', '-')}@a.example`, 'admin')
    const email = `by-${name.replaceAll(' ', '-')}@a.example`
    const invited = (await invite(a, { email, role: 'admin' }, token)).body
    await app.relational.pool.query(change, [user_id])
    expect(outcome(await lookUp(invited.token))).toEqual(gone)
    expect(outcome(await accept(invited.token))).toEqual(gone)
    const renewed = await resend(a, invited.id)
    expect((await accept(renewed.body.token)).status).toBe(201)
  })

  test('of a deleted organization is gone', async () => {
    const { id } = (await app.call('POST', root, { token: owner, body: { name: 'short' } })).body
    const { token } = (await invite(id, { email: 'short@example.com' })).body
    await app.relational.db.deleteFrom('organizations').where('id', '=', id).execute()
    expect(outcome(await accept(token))).toEqual(gone)
  })
})

test('another organization neither lists, revokes nor resends an invitation', async () => {
  const { id } = (await invite(a, { email: 'private@example.com' })).body
  const hidden = [404, 'organization_not_found']
  expect(outcome(await invitations(a, rival))).toEqual(hidden)
  expect(outcome(await revoke(a, id, rival))).toEqual(hidden)
  expect(outcome(await resend(a, id, rival))).toEqual(hidden)
  expect(outcome(await revoke(b, id, rival))).toEqual(gone)
  expect(outcome(await resend(b, id, rival))).toEqual(gone)
  expect((await invitations(b, rival)).text).not.toContain('private@example.com')
})

test('only an owner invites owners, and revokes or resends such an invitation', async () => {
  const denied = [403, 'permission_denied']
  expect(outcome(await invite(b, { email: 'o@b.example', role: 'owner' }, rival))).toEqual(denied)
  const { id } = (await invite(b, { email: 'o@b.example', role: 'owner' })).body
  expect(outcome(await revoke(b, id, rival))).toEqual(denied)
  expect(outcome(await resend(b, id, rival))).toEqual(denied)
})

describe('the address', () => {
  test('is the same in any case, and another one with a plus', async () => {
    const { body } = await invite(a, { email: 'Case@Example.COM' })
    expect(body.email).toBe('case@example.com')
    await accept(body.token)
    expect((await invite(a, { email: 'CASE@example.com' })).status).toBe(200)
    expect((await invite(a, { email: 'case+1@example.com' })).status).toBe(201)
  })

  test.each([
    '\u212Aelvin@example.com',
    'ma\u0130l@example.com',
    'a@b.example\r\nBcc: c@d.example',
    'a,b@c.example',
  ])('%j is refused', async (email) => {
    expect(outcome(await invite(a, { email }))).toEqual([400, 'invalid_request'])
  })
})

test('an accepted invitation raises roles and lowers none', async () => {
  const { project_id } = app.first
  const grants = (role: string) => [{ project_id, role }]
  const first = await invite(a, { email: 'roles@example.com', projects: grants('editor') })
  const { user_id, tokens } = (await accept(first.body.token)).body
  const seen = async () =>
    (await app.call('GET', `/api/v2/access/projects/${project_id}`, { token: tokens.access_token }))
      .body.role
  expect(await seen()).toBe('editor')
  // Two open invitations, of which the lower is accepted last.
  await app.relational.pool.query('delete from organization_members where user_id = $1', [user_id])
  const admin = await invite(a, { email: 'roles@example.com', role: 'admin' })
  const project = `/api/v2/access/projects/${project_id}/members`
  const body = { email: 'roles@example.com', role: 'viewer' }
  const viewer = await app.call('POST', project, { token: owner, body })
  expect((await acceptAs(admin.body.token, tokens.access_token)).status).toBe(200)
  expect((await acceptAs(viewer.body.token, tokens.access_token)).status).toBe(200)
  const rows = await app.relational.pool.query(
    `select o.role, p.role as project from organization_members o join project_members p using (user_id)
     where user_id = $1`,
    [user_id],
  )
  expect(rows.rows).toEqual([{ role: 'admin', project: 'editor' }])
})

test('projects of another organization can not be granted', async () => {
  const projects = [{ project_id: app.first.project_id, role: 'admin' }]
  const reply = await invite(b, { email: 'thief@b.example', projects }, rival)
  expect(outcome(reply)).toEqual([404, 'project_not_found'])
})

test('a retry with the same idempotency key shows no token and makes no second invitation', async () => {
  const call = () =>
    app.call('POST', `${root}/${a}/members`, {
      token: owner,
      body: { email: 'retry@example.com', role: 'member' },
      headers: { 'idempotency-key': 'invite-once' },
    })
  const first = await call()
  const again = await call()
  expect(again.body).toEqual({ ...first.body, token: null, accept_url: null })
  expect((await accept(first.body.token)).status).toBe(201)
})

test('an organization sends 20 links per minute and has a limit of pending invitations', async () => {
  const few = await startAccessApp({
    database_url: app.relational.pool.options.connectionString ?? '',
    invitations_pending_max: 21,
  })
  few.clock.ahead_ms = app.clock.ahead_ms
  const { id } = (await app.call('POST', root, { token: owner, body: { name: 'many' } })).body
  const one = (n: number) =>
    few.call('POST', `${root}/${id}/members`, {
      token: owner,
      body: { email: `n${n}@example.com`, role: 'member' },
    })
  const replies = await Promise.all(Array.from({ length: 22 }, (_, n) => one(n)))
  expect(replies.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(20)
  const refused = replies.find(({ status }) => status === 429)
  expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0)
  few.clock.ahead_ms += 61_000
  expect((await one(30)).status).toBe(201)
  expect(outcome(await one(31))).toEqual([409, 'limit_reached'])
  await few.close()
})

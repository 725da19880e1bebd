import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'

/** Projects and members that custom resources declare: calls with the operator's key. */
const root = '/api/v2/access'
let app: AccessApp
/** The same installation without mail, so that invitations show their link. */
let plain: AccessApp
/** The last mailed text of each address. */
const mails = new Map<string, string>()
let mailFault: Error | undefined
let owner: string
let organization_id: string
let project: string

beforeAll(async () => {
  plain = await startAccessApp()
  app = await startAccessApp({
    database_url: plain.relational.pool.options.connectionString ?? '',
    mailer: {
      configured: true,
      send: async ({ to, text }) => {
        if (mailFault !== undefined) throw mailFault
        mails.set(to, text)
      },
      close: () => undefined,
    },
  })
  owner = await app.signIn(plain.first.admin_email, plain.first.admin_password)
  organization_id = plain.first.organization_id
  const url = `${root}/organizations/${organization_id}/projects`
  project = (await app.call('POST', url, { token: owner, body: { name: 'declared' } })).body.id
})
/** A project sends a limited number of links per minute. */
beforeEach(() => {
  app.clock.ahead_ms += 61_000
  plain.clock.ahead_ms = app.clock.ahead_ms
  mailFault = undefined
})
afterAll(async () => {
  await app.close()
  await plain.close()
})

const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [
  status,
  body?.code,
]
const ownerOf = (name: string, namespace = 'team-a') => ({
  ...{ kind: 'ProjectMember', namespace, name, uid: `uid-${name}` },
})
const url = (on = project) => `${root}/projects/${on}/declared-members`
const queryOf = (name: string, namespace = 'team-a') =>
  `managed_by=ProjectMember/${namespace}/${name}`
type Declared = { role?: string; namespace?: string; on?: string }

function declare(name: string, email: string, { role = 'viewer', namespace, on }: Declared = {}) {
  const body = { email, role, managed_by: ownerOf(name, namespace) }
  return app.call('PUT', url(on), { key: plain.operator_key, body })
}
const end = (name: string, more = '', namespace?: string) =>
  app.call('DELETE', `${url()}?${queryOf(name, namespace)}${more}`, { key: plain.operator_key })
const read = async (name: string, namespace?: string) => {
  const path = `${url()}?${queryOf(name, namespace)}`
  return (await app.call('GET', path, { key: plain.operator_key })).body
}
const mailed = (email: string) => /lti_\w+/.exec(mails.get(email) ?? '')?.[0] ?? ''
const accept = (token: string) =>
  app.call('POST', '/api/v1/auth/invitations/accept', {
    body: { token, display_name: 'Me', password: 'a password of mine' },
  })
const acceptAs = (link: string, token: string) =>
  app.call('POST', '/api/v1/auth/invitations/accept', { token, body: { token: link } })
/** The role of a person in the project, as its list of members shows it. */
async function roleOf(email: string, on = project): Promise<string | undefined> {
  const path = `${root}/projects/${on}/members?limit=200`
  const { members } = (await app.call('GET', path, { token: owner })).body
  return members.find((one: { email: string }) => one.email === email)?.project_role
}
async function isInOrganization(email: string): Promise<boolean> {
  const path = `${root}/organizations/${organization_id}/members?limit=200`
  const { members } = (await app.call('GET', path, { token: owner })).body
  return members.some((one: { email: string }) => one.email === email)
}

describe('a declared member', () => {
  test('is invited by mail, accepts, changes the role, and ends with the declaration', async () => {
    const email = 'new@example.com'
    const invited = await declare('new', email)
    expect(invited.status).toBe(200)
    expect(invited.body).toMatchObject({ email, role: 'viewer', status: 'invited' })
    expect(invited.text).not.toContain('lti_')
    expect(await roleOf(email)).toBeUndefined()
    expect((await accept(mailed(email))).status).toBe(201)
    expect(await read('new')).toMatchObject({ status: 'accepted', member_role: 'viewer' })
    expect((await declare('new', email, { role: 'editor' })).body.member_role).toBe('editor')
    expect([await roleOf(email), await isInOrganization(email)]).toEqual(['editor', true])
    expect((await end('new')).status).toBe(204)
    expect([await roleOf(email), await isInOrganization(email)]).toEqual([undefined, false])
    expect((await end('new')).status).toBe(204)
  })

  test('stays with retain', async () => {
    const email = 'kept@example.com'
    await declare('kept', email)
    await accept(mailed(email))
    await end('kept', '&retain=true')
    expect([await roleOf(email), await isInOrganization(email)]).toEqual(['viewer', true])
  })

  test('gets the same reply, whether or not the person has an account or a role', async () => {
    await plain.person('somebody@example.com', 'admin')
    const replies = await Promise.all(
      ['somebody', 'nobody'].map((name) => declare(name, `${name}@example.com`)),
    )
    const shown = replies.map(({ status, body }) => [status, { ...body, id: '', email: '' }])
    const same = shown.map(([status, body]) => [
      status,
      { ...(body as object), managed_by: '', expires_at: '' },
    ])
    expect(same[0]).toEqual(same[1])
    expect(await roleOf('somebody@example.com')).toBeNull()
  })

  test('whose role a person gave keeps that role, also after the declaration', async () => {
    const email = 'given@example.com'
    const { user_id, token } = await plain.person(email, 'member')
    const members = `${root}/projects/${project}/members/${user_id}`
    await app.call('PUT', members, { token: owner, body: { role: 'admin' } })
    await declare('given', email)
    expect((await acceptAs(mailed(email), token)).status).toBe(200)
    expect(await roleOf(email)).toBe('admin')
    await declare('given', email, { role: 'editor' })
    await end('given')
    expect([await roleOf(email), await isInOrganization(email)]).toEqual(['admin', true])
  })

  test('of two resources keeps the role of the other when one ends', async () => {
    const email = 'shared@example.com'
    await declare('shared', email, { role: 'editor' })
    const first = mailed(email)
    await declare('shared', email, { namespace: 'team-b' })
    expect((await accept(first)).status).toBe(201)
    const token = await app.signIn(email, 'a password of mine')
    expect((await acceptAs(mailed(email), token)).status).toBe(200)
    await end('shared', '', 'team-b')
    expect(await roleOf(email)).toBe('editor')
    await declare('shared', email, { namespace: 'team-b' })
    await acceptAs(mailed(email), token)
    await end('shared')
    expect(await roleOf(email)).toBe('viewer')
  })

  test('whom a person removed is not given a role again', async () => {
    const email = 'removed@example.com'
    await declare('removed', email)
    const { user_id } = (await accept(mailed(email))).body
    const members = `${root}/projects/${project}/members/${user_id}`
    expect((await app.call('DELETE', members, { token: owner })).status).toBe(204)
    const again = await declare('removed', email, { role: 'admin' })
    expect(again.body).toMatchObject({ status: 'ended', member_role: null })
    expect(await roleOf(email)).toBeUndefined()
  })

  test('ends no invitation by a person, and no person ends it by inviting', async () => {
    const email = 'both@example.com'
    await declare('both', email)
    const by_resource = mailed(email)
    const members = `${root}/projects/${project}/members`
    const body = { email, role: 'editor' }
    expect((await app.call('POST', members, { token: owner, body })).status).toBe(201)
    const by_person = mailed(email)
    await declare('both', email, { namespace: 'team-b' })
    expect((await accept(by_resource)).status).toBe(201)
    expect(await roleOf(email)).toBe('viewer')
    const token = await app.signIn(email, 'a password of mine')
    expect((await acceptAs(by_person, token)).status).toBe(200)
    await end('both')
    expect(await roleOf(email)).toBe('editor')
  })

  test('leaves the people of the organization their invitations: limits are per project', async () => {
    const names = Array.from({ length: 21 }, (_one, n) => `many-${n}`)
    const replies = []
    for (const name of names) replies.push(await declare(name, `${name}@example.com`))
    expect(outcome(replies.at(-1) ?? { status: 0, body: {} })).toEqual([429, 'rate_limited'])
    const body = { email: 'person@example.com', role: 'viewer' }
    const members = `${root}/projects/${project}/members`
    expect((await app.call('POST', members, { token: owner, body })).status).toBe(201)
    for (const name of names) await end(name)
  })

  test('is mailed by the next call if a mail failed', async () => {
    const email = 'later@example.com'
    mailFault = new Error('the mail server is away')
    expect(outcome(await declare('later', email))).toEqual([503, 'mail_unavailable'])
    expect(await read('later')).toMatchObject({ status: 'link_not_sent' })
    mailFault = undefined
    expect((await declare('later', email)).body.status).toBe('invited')
    expect((await accept(mailed(email))).status).toBe(201)
  })

  test('without a mail server gets no link by the operator, only by an administrator', async () => {
    const body = { email: 'x@example.com', role: 'viewer', managed_by: ownerOf('x') }
    const declared = await plain.call('PUT', url(), { key: plain.operator_key, body })
    expect(declared.body).toMatchObject({ status: 'link_not_sent' })
    expect(declared.text).not.toContain('lti_')
    const invitations = `${root}/organizations/${organization_id}/invitations`
    const resend = `${invitations}/${declared.body.id}/resend`
    const sent = await plain.call('POST', resend, { token: owner })
    expect(sent.body.token).toMatch(/^lti_/)
    expect((await read('x')).status).toBe('invited')
    expect((await accept(sent.body.token)).status).toBe(201)
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
    const asOwner = await app.call('PUT', path, { token: owner, body })
    expect(outcome(asOwner)).toEqual([403, 'permission_denied'])
    const named = await app.call('PUT', path, { token: owner, body: { ...body, managed_by } })
    expect(outcome(named)).toEqual([400, 'invalid_request'])
    const unnamed = await app.call('PUT', path, { key: plain.operator_key, body })
    expect(outcome(unnamed)).toEqual([400, 'invalid_request'])
  }
  const removed = await app.call('DELETE', `${root}/projects/${project}`, { token: owner })
  expect(outcome(removed)).toEqual([403, 'permission_denied'])
})

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'

/** Grants of clusters, which operators report and administrators of a project read. */

const root = '/api/v2/access'
let app: AccessApp
let owner: string
let project: string

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
})
beforeEach(async () => {
  project = await newProject()
})
afterAll(() => app.close())

const person = (method: 'GET' | 'POST' | 'PUT', url: string, body?: unknown) =>
  app.call(method, `${root}${url}`, { token: owner, body })
const report = (installation: string, grants: readonly object[], more: object = {}) =>
  app.call('PUT', `${root}/installations/${installation}/grants`, {
    key: app.operator_key,
    body: { cluster: 'c', grants, ...more },
  })
const grant = (name: string, more: object = {}) => ({
  ...{ name, project_id: project, namespaces: ['team-a'], namespace_count: 1, selector: null },
  ...{ kinds: ['RetentionPolicy'], scopes: ['tasks:read'], roles: ['viewer'] },
  ...{ max_keys: 8, revoke_after: '1h', ...more },
})
const grantsOf = async (project_id: string, query = '') => {
  const reply = await person('GET', `/projects/${project_id}/grants${query}`)
  expect(reply.status).toBe(200)
  return reply.body
}
const namesOf = ({ grants }: { grants: { name: string }[] }) => grants.map(({ name }) => name)
async function newProject(): Promise<string> {
  const path = `/organizations/${app.first.organization_id}/projects`
  return (await person('POST', path, { name: newId() })).body.id
}

async function later(days: number): Promise<void> {
  app.clock.ahead_ms += days * 86_400_000
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
}

test('a report replaces the last one of its installation, and no other', async () => {
  const [one, two] = [newId(), newId()]
  const selector = 'team=a,env in (prod)'
  const reports = [
    await report(one, [grant('a'), grant('b', { selector, namespace_count: 70 })]),
    await report(two, [grant('a')]),
  ]
  expect(reports.map(({ status, body }) => [status, body.stored])).toEqual([
    [200, 2],
    [200, 1],
  ])
  const { grants, total } = await grantsOf(project)
  expect(total).toBe(3)
  expect(grants.find(({ name }: { name: string }) => name === 'b')).toEqual({
    ...grant('b', { selector, namespace_count: 70 }),
    ...{ id: expect.any(String), installation_id: one, cluster: 'c' },
    reported_at: expect.stringMatching(/Z$/),
  })
  const ids = new Set(grants.map(({ id }: { id: string }) => id))
  await report(one, [grant('b')])
  const again = await grantsOf(project)
  expect(namesOf(again).sort()).toEqual(['a', 'b'])
  expect(again.grants.every(({ id }: { id: string }) => ids.has(id))).toBe(true)
  await report(one, [])
  expect((await grantsOf(project)).grants).toMatchObject([{ name: 'a', installation_id: two }])
  await report(two, [])
  expect(await grantsOf(project)).toEqual({ grants: [], total: 0, next_cursor: null })
})

test('reports of two processes at once leave one of them whole', async () => {
  const installation = newId()
  const sets = [0, 1, 2, 3].map((set) => [0, 1, 2].map((at) => grant(`s${set}-${at}`)))
  const replies = await Promise.all(sets.map((set) => report(installation, set)))
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const kept = namesOf(await grantsOf(project)).map((name) => name.slice(0, 2))
  expect([kept.length, new Set(kept).size]).toEqual([3, 1])
})

test('a grant of a project that does not exist yet is left out', async () => {
  const installation = newId()
  const { body } = await report(installation, [grant('a'), grant('b', { project_id: newId() })])
  expect(body).toEqual({ stored: 1 })
  expect(namesOf(await grantsOf(project))).toEqual(['a'])
})

test('pages have each grant once', async () => {
  const installation = newId()
  const names = Array.from({ length: 7 }, (_, at) => `g${at}`)
  await report(
    installation,
    names.map((name) => grant(name)),
  )
  const seen: string[] = []
  let query = '?limit=3'
  for (;;) {
    const page = await grantsOf(project, query)
    seen.push(...namesOf(page))
    if (page.next_cursor === null) break
    query = `?limit=3&cursor=${page.next_cursor}`
  }
  expect(seen.sort()).toEqual(names)
})

test('rows of an installation that reports no more are dropped after 90 days', async () => {
  const [gone, alive] = [newId(), newId()]
  await report(gone, [grant('gone')])
  await later(89)
  await report(alive, [grant('alive')])
  expect(namesOf(await grantsOf(project)).sort()).toEqual(['alive', 'gone'])
  await later(2)
  await report(alive, [grant('alive')])
  expect(namesOf(await grantsOf(project))).toEqual(['alive'])
})

test('only an operator reports, and only administrators of the project read', async () => {
  const installation = newId()
  const path = `/installations/${installation}/grants`
  const body = { cluster: 'c', grants: [grant('forged')] }
  expect(outcome(await person('PUT', path, body))).toEqual([403, 'permission_denied'])
  const made = await person('POST', `/projects/${project}/api-keys`, {
    ...{ name: 'k', scopes: ['access:read'] },
  })
  const byKey = await app.call('PUT', root + path, { key: made.body.key, body })
  expect(byKey.status).toBe(401)
  expect(await grantsOf(project)).toMatchObject({ grants: [] })

  const other = await newProject()
  await report(installation, [grant('mine'), grant('other', { project_id: other })])
  const own = `${root}/projects/${project}/grants`
  const read = await app.call('GET', own, { key: made.body.key })
  expect([read.status, namesOf(read.body)]).toEqual([200, ['mine']])
  const foreign = await app.call('GET', `${root}/projects/${other}/grants`, { key: made.body.key })
  expect(foreign.status).toBe(404)
  const operator = await app.call('GET', own, { key: app.operator_key })
  expect(operator.status).toBe(401)
  const stranger = await app.person('stranger@example.com', 'member')
  expect((await app.call('GET', own, { token: stranger.token })).status).toBe(404)
})

const many = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `g${at}` }))

test.each<[string, object[], object]>([
  ['two grants of a name', [{}, {}], {}],
  ['1,001 grants', many(1_001), {}],
  ['markup in a name', [{ name: '<img src=x>' }], {}],
  ['a selector with a line break', [{ selector: 'a\nb' }], {}],
  ['51 namespaces', [{ namespaces: Array.from({ length: 51 }, () => 'a') }], {}],
  ['an unknown field', [{ more: 1 }], {}],
  ['no cluster', [], { cluster: undefined }],
])('%s is refused, and changes nothing', async (_what, grants, more) => {
  const installation = newId()
  await report(installation, [grant('kept')])
  const reply = await report(
    installation,
    grants.map((one) => ({ ...grant('a'), ...one })),
    more,
  )
  expect(outcome(reply)).toEqual([400, 'invalid_request'])
  expect(namesOf(await grantsOf(project))).toEqual(['kept'])
})

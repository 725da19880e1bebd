import { afterAll, beforeAll, expect, test } from 'vitest'
import { retentionRoutes } from '../../src/capabilities/lifecycle/retention/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import {
  type JobTables,
  openRelational,
  type Relational,
  type RetentionTables,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

let app: AccessApp
let owner: string
let project: string
let headers: Record<string, string>
let key: string
let account: { id: string; key: string }

let retention: Relational<RetentionTables & JobTables & TaskTables>

beforeAll(async () => {
  const database_url = await testPostgres()
  retention = openRelational({
    scope: allTenants,
    ...{ url: database_url, pool_max: 2, connect_timeout_ms: 5_000, statement_timeout_ms: 10_000 },
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  const routes = retentionRoutes({
    ...{ db: retention.db, clock: systemClock, hour: 3, archives_configured: false },
    // The calls of this file read no rows.
    retention: {} as never,
  })
  app = await startAccessApp({ database_url, routes })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  const { organization_id } = app.first
  const projects = `/api/v2/access/organizations/${organization_id}/projects`
  const made = await app.call('POST', projects, { token: owner, body: { name: 'old' } })
  project = `/api/v2/access/projects/${made.body.id}`
  headers = { 'x-project-id': made.body.id }
  const body = { name: 'k', scopes: ['ingest:write', 'tasks:read', 'query:run', 'access:read'] }
  key = (await app.call('POST', `${project}/api-keys`, { token: owner, body })).body.key
  const accounts = '/api/v2/access/service-accounts'
  const agent = { name: 'agent', scopes: ['query:run', 'tasks:read'] }
  const { id } = (await app.call('POST', accounts, { token: owner, headers, body: agent })).body
  const minted = await app.call('POST', `${accounts}/${id}/keys`, { token: owner, headers })
  account = { id, key: minted.body.key }
})
afterAll(async () => {
  await app.close()
  await retention.close()
})

const post = (path: string, body?: unknown, token = owner) =>
  app.call('POST', `${project}${path}`, { token, body })
const archived = [409, 'project_archived']

test('an archived project can be read, by people and by keys', async () => {
  const reply = await post('/archive')
  expect([reply.status, reply.body.archived_at]).toEqual([200, expect.any(String)])
  expect((await post('/archive')).body).toEqual(reply.body)
  expect((await app.call('GET', project, { token: owner })).body).toEqual(reply.body)
  expect((await app.call('GET', '/probe/jwt', { token: owner, headers })).status).toBe(200)
  expect((await app.call('GET', `${project}/members`, { token: owner })).status).toBe(200)
  app.clock.ahead_ms = 31_000
  expect((await app.call('GET', '/probe/either', { key })).status).toBe(200)
  expect((await app.call('GET', '/probe/either', { key: account.key })).status).toBe(200)
})

test('changes are refused with a clear error, by people, keys, accounts and their tokens', async () => {
  const refused = await post('/api-keys', { name: 'new' })
  expect(outcome(refused)).toEqual(archived)
  expect(refused.body.detail).toContain('/unarchive')
  expect(outcome(await post('/members', { email: 'a@b.test', role: 'viewer' }))).toEqual(archived)
  const settings = { name: 'new name', key_scopes: null }
  const put = await app.call('PUT', `${project}/settings`, { token: owner, body: settings })
  expect(outcome(put)).toEqual(archived)
  const environments = { environments: ['production'] }
  const other = { token: owner, body: environments }
  expect(outcome(await app.call('PUT', `${project}/environments`, other))).toEqual(archived)
  expect(outcome(await app.call('POST', '/probe/change', { key }))).toEqual(archived)
  expect(outcome(await app.call('POST', '/probe/change', { key: account.key }))).toEqual(archived)
  const grant = { grant_type: 'client_credentials', client_secret: account.key }
  const { body } = await app.call('POST', '/api/v1/auth/token', { body: grant })
  const token = body.access_token
  expect(outcome(await app.call('POST', '/probe/change', { token }))).toEqual(archived)
  expect((await app.call('GET', '/probe/either', { token })).status).toBe(200)
})

test('calls that remove access or data still work, and so do legal holds', async () => {
  const { organization_id } = app.first
  const member = await app.person('gone@example.com', 'member')
  const asOwner = (method: 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown) =>
    app.call(method, url, { token: owner, headers, body })
  const accounts = '/api/v2/access/service-accounts'
  expect((await post('/unarchive')).status).toBe(200)
  const leaked = (await post('/api-keys', { name: 'leaked' })).body
  const agent = (await asOwner('POST', accounts, { name: 'gone', scopes: ['tasks:read'] })).body
  const minted = (await asOwner('POST', `${accounts}/${agent.id}/keys`)).body
  const of_member = `${project}/members/${member.user_id}`
  expect((await asOwner('PUT', of_member, { role: 'editor' })).status).toBe(200)
  expect((await post('/archive')).status).toBe(200)

  const revoked = await post(`/api-keys/${leaked.id}/revoke`)
  expect([revoked.status, revoked.body.revoked_at]).toEqual([200, expect.any(String)])
  const unused = await app.call('GET', '/probe/either', { key: leaked.key })
  expect(outcome(unused)).toEqual([401, 'credentials_invalid'])
  expect(outcome(await post(`/api-keys/${minted.id}/rotate`))).toEqual(archived)
  expect((await post(`/api-keys/${minted.id}/revoke`)).status).toBe(200)
  expect(outcome(await asOwner('DELETE', of_member))).toEqual([204, undefined])

  const disabled = await asOwner('POST', `${accounts}/${agent.id}/disable`)
  expect([disabled.status, disabled.body.disabled_at]).toEqual([200, expect.any(String)])
  expect(outcome(await asOwner('POST', `${accounts}/${agent.id}/enable`))).toEqual(archived)
  expect((await asOwner('DELETE', `${accounts}/${agent.id}`)).status).toBe(204)
  const of_organization = `/api/v2/access/organizations/${organization_id}/members`
  expect((await asOwner('DELETE', `${of_organization}/${member.user_id}`)).status).toBe(204)

  const observability = '/api/v2/observability'
  const hold = { kind: 'task', value: 't', reason: 'court' }
  const held = await asOwner('POST', `${observability}/legal-holds`, hold)
  expect(held.status).toBe(201)
  const release = await asOwner('DELETE', `${observability}/legal-holds/${held.body.hold_id}`)
  expect([release.status, release.body.released_at]).toEqual([200, expect.any(String)])
  const erasure = { user_id: 'ann', reason: 'asked' }
  expect((await asOwner('POST', `${observability}/erasures`, erasure)).status).toBe(202)
  const run = await asOwner('POST', `${observability}/retention/run`)
  expect(outcome(run)).toEqual(archived)
})

test('it is listed only among archived projects, and is never the default', async () => {
  const listed = async (query: string) => {
    const { body } = await app.call('GET', `/api/v2/access/projects${query}`, { token: owner })
    return body.projects.map(({ name }: { name: string }) => name)
  }
  expect(await listed('')).toEqual(['default'])
  expect(await listed('?archived=true')).toEqual(['old'])
  const me = await app.call('GET', '/probe/jwt', { token: owner })
  expect(me.body.project_id).toBe(app.first.project_id)
})

test('only an admin of the project archives and restores it; strangers do not see it', async () => {
  const editor = await app.person('editor@example.com', 'member')
  const stranger = await app.person('stranger@example.com', 'member')
  const { project_id } = app.first
  const own = `/api/v2/access/projects/${project_id}`
  await app.call('PUT', `${own}/members/${editor.user_id}`, {
    token: owner,
    body: { role: 'editor' },
  })
  const attempt = await app.call('POST', `${own}/archive`, { token: editor.token })
  expect(outcome(attempt)).toEqual([403, 'permission_denied'])
  for (const path of ['/archive', '/unarchive']) {
    expect(outcome(await post(path, undefined, stranger.token))).toEqual([404, 'project_not_found'])
    const byKey = await app.call('POST', `${project}${path}`, { key })
    expect(outcome(byKey)).toEqual([401, 'credentials_unsupported'])
  }
})

test('a restored project accepts changes again, with the same keys', async () => {
  const reply = await post('/unarchive')
  expect([reply.status, reply.body.archived_at]).toEqual([200, null])
  app.clock.ahead_ms = 62_000
  expect((await app.call('POST', '/probe/change', { key })).status).toBe(200)
  expect((await post('/api-keys', { name: 'new' })).status).toBe(201)
})

test('a project that a resource declares is archived by its resource only', async () => {
  const managed_by = JSON.stringify({
    ...{ kind: 'LooptraceProject', namespace: 'team', name: 'checkout' },
    ...{ installation: 'i', uid: 'u' },
  })
  await app.relational.pool.query('update projects set managed_by = $1 where id = $2', [
    managed_by,
    app.first.project_id,
  ])
  const own = `/api/v2/access/projects/${app.first.project_id}`
  const reply = await app.call('POST', `${own}/archive`, { token: owner })
  expect(outcome(reply)).toEqual([409, 'managed_by_kubernetes'])
  const body = { name: 'other', key_scopes: null }
  const put = await app.call('PUT', `${own}/settings`, { token: owner, body })
  expect(outcome(put)).toEqual([409, 'managed_by_kubernetes'])
})

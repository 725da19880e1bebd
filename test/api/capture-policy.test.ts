import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorizer } from '../../src/capabilities/access/index.ts'
import {
  captureRoutes,
  createCapturePolicies,
} from '../../src/capabilities/records/capture/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import {
  type CaptureTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

const url = '/api/v2/observability/capture-policy'
const logger = createLogger({ role: 'test', level: 'silent' })
let database_url: string
let app: AccessApp
let relational: Relational<CaptureTables>
let server: HttpServer
let owner: string

const open = (address: string) =>
  openRelational<CaptureTables>({
    scope: allTenants,
    url: address,
    pool_max: 4,
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 5_000,
    logger,
  })

beforeAll(async () => {
  database_url = await testPostgres()
  app = await startAccessApp({ database_url })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  relational = open(database_url)
  server = await createHttpServer({
    routes: captureRoutes({ db: relational.db, clock: systemClock }),
    authorize: authorizer(app.access),
    idempotency: openIdempotencyStore(app.relational.db),
    logger,
    metrics: createMetrics(),
    clock: systemClock,
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 5_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
})
afterAll(async () => {
  await server.close()
  await relational.close()
  await app.close()
})

type Wish = { token?: string; headers?: Record<string, string>; project_id?: string }

async function send(method: 'GET' | 'PUT' | 'POST', body: unknown, wish: Wish = {}) {
  const { token = owner, headers = {}, project_id = app.first.project_id } = wish
  const reply = await server.inject({
    method,
    url: method === 'POST' ? `${url}/preview` : url,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      'x-project-id': project_id,
      ...headers,
    },
    ...(body !== undefined && { payload: body as object }),
  })
  return { status: reply.statusCode, body: reply.json(), etag: reply.headers.etag }
}
const get = (wish?: Wish) => send('GET', undefined, wish)
const put = (body: unknown, wish?: Wish) => send('PUT', body, wish)

async function newProject(name: string): Promise<string> {
  const at = `/api/v2/access/organizations/${app.first.organization_id}/projects`
  const { body } = await app.call('POST', at, { token: owner, body: { name } })
  return String(body.id)
}

test('a project keeps everything by default', async () => {
  expect(await get()).toEqual({
    status: 200,
    etag: expect.stringMatching(/^"0-/),
    body: {
      project_id: app.first.project_id,
      content: 'full',
      sample_rate: 1,
      masks: [],
      version: 0,
      updated_at: null,
      updated_by: null,
    },
  })
})

test('a stored policy is read back, and by no other project', async () => {
  const project_id = await newProject('masked')
  const masks = [
    { name: 'mail', pattern: '\\S+@\\S+' },
    { name: 'secrets', keys: ['password'], replacement: '***' },
  ]
  const set = await put({ content: 'metadata_only', sample_rate: 0.25, masks }, { project_id })
  expect([set.status, set.etag]).toEqual([200, '"1"'])
  expect(set.body).toMatchObject({
    project_id,
    content: 'metadata_only',
    sample_rate: 0.25,
    masks: [{ ...masks[0], replacement: '[masked:mail]' }, masks[1]],
    version: 1,
  })
  expect(set.body.updated_by).toMatch(/^user:[0-9a-f-]{36}$/)
  expect((await get({ project_id })).body).toEqual(set.body)
  expect((await get()).body.version).toBe(0)
})

describe('If-Match', () => {
  test('only the version that was read is replaced', async () => {
    const project_id = await newProject('etags')
    const match = (etag: string) => ({ project_id, headers: { 'if-match': etag } })
    expect((await put({ content: 'off' }, match('"0"'))).etag).toBe('"1"')
    for (const stale of ['"0"', '"2"', 'W/"1"', '1', '"x"']) {
      const { status, body } = await put({}, match(stale))
      expect([stale, status, body.code]).toEqual([stale, 412, 'precondition_failed'])
      expect(body.detail).toContain('expected "1"')
    }
    expect((await get({ project_id })).body).toMatchObject({ content: 'off', version: 1 })
    expect((await put({}, match('"1"'))).etag).toBe('"2"')
    expect((await put({}, match('*'))).etag).toBe('"3"')
    expect((await put({}, { project_id })).etag).toBe('"4"')
  })

  test('of many concurrent changes one wins', async () => {
    const project_id = await newProject('race')
    for (const etag of ['"0"', '"1"']) {
      const wish = { project_id, headers: { 'if-match': etag } }
      const replies = await Promise.all(Array.from({ length: 6 }, () => put({}, wish)))
      const statuses = replies.map(({ status }) => status).sort()
      expect(statuses).toEqual([200, 412, 412, 412, 412, 412])
    }
  })
})

describe('permissions', () => {
  test('a viewer reads, an admin sets, others get nothing', async () => {
    const project_id = await newProject('people')
    const roleOf = async (role: string) => {
      const person = await app.person(`${role}@example.com`, 'member')
      const at = `/api/v2/access/projects/${project_id}/members/${person.user_id}`
      await app.call('PUT', at, { token: owner, body: { role } })
      return person.token
    }
    const [viewer, editor, admin] = [
      await roleOf('viewer'),
      await roleOf('editor'),
      await roleOf('admin'),
    ]
    const outsider = (await app.person('outsider@example.com', 'member')).token
    const status = async (token: string, headers?: Record<string, string>) => {
      const wish = { token, project_id, ...(headers && { headers }) }
      const replies = [await get(wish), await put({}, wish)]
      return replies.map((reply) => [reply.status, reply.body.code])
    }
    expect(await status(viewer)).toEqual([
      [200, undefined],
      [403, 'permission_denied'],
    ])
    expect(await status(editor)).toEqual([
      [200, undefined],
      [403, 'permission_denied'],
    ])
    expect(await status(admin)).toEqual([
      [200, undefined],
      [200, undefined],
    ])
    expect(await status(outsider)).toEqual([
      [404, 'project_not_found'],
      [404, 'project_not_found'],
    ])
    expect(await status('')).toEqual([
      [401, 'credentials_missing'],
      [401, 'credentials_missing'],
    ])
    expect(await status('nonsense')).toEqual([
      [401, 'credentials_invalid'],
      [401, 'credentials_invalid'],
    ])
    const withKey = await status('', { 'x-api-key': app.first.project_key })
    expect(withKey.map(([code]) => code)).toEqual([401, 401])
  })
})

test.each([
  [{ content: 'some' }, '/content', /got "some", expected full, metadata_only, off/],
  [{ sample_rate: 1.5 }, '/sample_rate', /expected a number from 0 to 1/],
  [{ sample_rate: '1' }, '/sample_rate', /expected a number from 0 to 1/],
  [{ masks: [{ name: 'a', pattern: '(' }] }, '/masks/0/pattern', /expected RE2 syntax/],
  [{ masks: Array(51).fill({ name: 'a', keys: ['k'] }) }, '/masks', /got 51 masks/],
  [{ masks: [{ name: 'a', pattern: 'x'.repeat(1001) }] }, '/masks/0/pattern', /1001 characters/],
  [{ masks: [{ name: 'a', keys: ['\u0000'] }] }, '/masks/0/keys/0', /without U\+0000/],
  [{ unknown: 1 }, '/unknown', /is not a field here/],
])('%j is refused with its position', async (body, pointer, detail) => {
  const reply = await put(body)
  expect([reply.status, reply.body.code]).toEqual([400, 'invalid_request'])
  expect(reply.body.errors[0]).toEqual({ pointer, detail: expect.stringMatching(detail) })
})

describe('an edge', () => {
  const clock = { ahead_ms: 0, now_ms: () => clock.ahead_ms }
  const reader = (address = database_url) => {
    const metrics = createMetrics()
    const edge = open(address)
    const policies = createCapturePolicies({ db: edge.db, clock, metrics, ttl_ms: 1_000 })
    return { policies, metrics, close: () => edge.close() }
  }

  test('learns a policy at its first call, and a change when its copy is old', async () => {
    const project_id = await newProject('edge')
    const edge = reader()
    const first = edge.policies.policyOf(project_id)
    expect(first).toBeInstanceOf(Promise)
    expect((await first).keeps_all).toBe(true)
    await put({ content: 'off' }, { project_id })
    expect(await edge.policies.policyOf(project_id)).toMatchObject({ keeps_all: true })
    clock.ahead_ms += 1_000
    expect(edge.policies.policyOf(project_id)).toMatchObject({ keeps_all: true })
    await expect.poll(() => edge.policies.policyOf(project_id)).toMatchObject({ content: 'off' })
    await put({ content: 'full' }, { project_id })
    edge.policies.forget(project_id)
    expect((await edge.policies.policyOf(project_id)).keeps_all).toBe(true)
    await edge.close()
  })

  test('without the store keeps using known policies, and drops content of unknown projects', async () => {
    const project_id = await newProject('outage')
    const edge = reader()
    await edge.policies.policyOf(project_id)
    await edge.close()
    clock.ahead_ms += 5_000
    expect(edge.policies.policyOf(project_id)).toMatchObject({ keeps_all: true })
    clock.ahead_ms += 5_000
    expect(await edge.policies.policyOf(app.first.project_id)).toMatchObject({
      content: 'metadata_only',
    })
    expect(edge.policies.policyOf(app.first.project_id)).toMatchObject({ content: 'metadata_only' })
    expect(edge.policies.policyOf(project_id)).toMatchObject({ keeps_all: true })
    const { body } = await edge.metrics.expose()
    expect(body).toContain('looptrace_capture_policy_unknown_total 2')
  })
})

test('a preview masks a text as it would be stored, and saves nothing', async () => {
  const project_id = await newProject('preview')
  const masks = [
    { name: 'card', pattern: '\\d{16}' },
    { name: 'secret', keys: ['password'] },
  ]
  const text = '{"password":"hunter2","note":"card 4111111111111111"}'
  const preview = (policy: unknown, wish: Wish = {}) =>
    send('POST', { policy, text }, { project_id, ...wish })
  expect((await preview({ masks })).body).toEqual({
    text: '{"password":"[masked:secret]","note":"card [masked:card]"}',
    masked: true,
  })
  expect((await preview({})).body).toEqual({ text, masked: false })
  expect((await preview({ content: 'metadata_only' })).body).toEqual({ text: null, masked: false })
  expect((await get({ project_id })).body.version).toBe(0)
  const refused = await preview({ masks: [{ name: 'card', pattern: '(' }] })
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect((await preview({}, { token: '' })).status).toBe(401)
})

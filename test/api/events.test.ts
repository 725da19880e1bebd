import { request } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAnnouncer, EventHub, eventRoutes } from '../../src/capabilities/events/index.ts'
import type { ChangeHint } from '../../src/model/change-hint.ts'
import { createLocalBroadcast } from '../../src/platform/queue/index.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'
import { openBrowser } from '../support/browser.ts'
import { type EventReader, readEvents } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'

const root = '/api/v2/access'
const keys = (project_id: string) => `${root}/projects/${project_id}/api-keys`
const trace_id = '0af76519-16cd-43dd-8448-eb211c80319c'
const metrics = createMetrics()
const broadcast = createLocalBroadcast()
const announcer = createAnnouncer({ broadcast, metrics, interval_ms: 1 })
const limits = { streams_per_project_max: 3, streams_max: 5, keep_alive_ms: 20, check_ms: 20 }
const hub = new EventHub({ broadcast, metrics, settings: limits })
/** Another process behind the same address: it shares nothing but the broadcast. */
const stopping = new EventHub({ broadcast, metrics: createMetrics(), settings: limits })
let app: AccessApp
let other: AccessApp
let base_url: string
let owner: string
let project_id: string
let foreign: { project_id: string; key: string; organization_id: string }
const open: EventReader[] = []

beforeAll(async () => {
  app = await startAccessApp({ routes: eventRoutes({ events: hub }) })
  base_url = `http://127.0.0.1:${await app.server.listen({ host: '127.0.0.1', port: 0 })}`
  other = await startAccessApp({ routes: eventRoutes({ events: stopping }) })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  project_id = app.first.project_id
  const { id: organization_id } = await post(`${root}/organizations`, { name: 'other' })
  const project = await post(`${root}/organizations/${organization_id}/projects`, { name: 'p' })
  const { key } = await post(keys(project.id), { name: 'k' })
  foreign = { project_id: project.id, key, organization_id }
})
afterEach(async () => {
  app.clock.ahead_ms = 0
  for (const reader of open.splice(0)) reader.close()
  await eventually('all streams are closed', async () => (await streams()) === 0)
})
afterAll(async () => {
  announcer.close()
  await hub.close()
  await app.close()
  await other.close()
})

const post = async (url: string, body: object) =>
  (await app.call('POST', url, { token: owner, body })).body

async function streams(): Promise<number> {
  const { body } = await metrics.expose()
  return Number(/^looptrace_event_streams (\d+)$/m.exec(body)?.[1])
}

async function newKey(scopes?: string[]): Promise<{ id: string; key: string }> {
  return post(keys(project_id), { name: 'events', ...(scopes !== undefined && { scopes }) })
}

async function read(
  query: Record<string, string> = {},
  headers: Record<string, string> = { 'x-api-key': app.first.project_key },
): Promise<EventReader> {
  const reader = await readEvents(base_url, { topics: 'tasks', ...query }, headers)
  open.push(reader)
  return reader
}

/** Opens a stream that is ready: it misses no later change. */
async function ready(...about: Parameters<typeof read>): Promise<EventReader> {
  const reader = await read(...about)
  expect(reader.status, JSON.stringify(reader.body)).toBe(200)
  await reader.nextOf('ready')
  return reader
}

function change(id: string, about: Partial<ChangeHint> = {}): void {
  announcer.add([{ project_id, kind: 'task', id, ...about }])
}

/** Announces changes one after the other, as separate events. */
async function changeOneByOne(reader: EventReader, ids: string[]): Promise<void> {
  for (const id of ids) {
    change(id)
    await reader.nextOf('change')
  }
}

describe('a stream', () => {
  test('begins with its topics and a delay for reconnecting, and is neither cached nor buffered', async () => {
    const reader = await read({ topics: `tasks,task:a%2Cb,trace:${trace_id}` })
    expect(Object.fromEntries(reader.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    const first = await reader.nextOf('ready')
    expect(first.data).toEqual({ topics: ['tasks', 'task:a%2Cb', `trace:${trace_id}`] })
    expect(first.retry_ms).toBeGreaterThanOrEqual(2_000)
    expect(first.retry_ms).toBeLessThanOrEqual(5_000)
  })

  test('shows ids and versions of its topics, and nothing else', async () => {
    const reader = await ready({ topics: 'incidents,task:t2,findings' })
    change('t1')
    change('i1', { kind: 'incident', version: 7 })
    expect((await reader.nextOf('change')).data).toEqual({
      ...{ kind: 'incident', topics: ['incidents'], changed: [{ id: 'i1', version: 7 }] },
      many: false,
    })
    change('f1', { kind: 'finding', task_id: 't2' })
    expect((await reader.nextOf('change')).data).toEqual({
      ...{ kind: 'finding', topics: ['findings', 'task:t2'] },
      ...{ changed: [{ id: 'f1', task_id: 't2' }], many: false },
    })
  })

  test('joins many changes, and says when ids are left out', async () => {
    const reader = await ready()
    announcer.add(
      Array.from({ length: 5_000 }, (_, at) => ({ project_id, kind: 'task', id: `t${at % 500}` })),
    )
    const { data } = await reader.nextOf('change')
    expect(data['changed']).toHaveLength(100)
    expect(data['many']).toBe(true)
  })

  test('is kept open by comments', async () => {
    const reader = await ready()
    const pending = reader.next()
    await eventually('two comments', () => reader.comments() >= 2)
    change('t1')
    expect(await pending).toMatchObject({ event: 'change' })
  })

  test('frees its place when the client leaves', async () => {
    const reader = await ready()
    expect(await streams()).toBe(1)
    reader.close()
    await eventually('the stream is closed', async () => (await streams()) === 0)
  })

  test('is not opened by HEAD, which gets the headers', async () => {
    const headers = { 'x-api-key': app.first.project_key }
    const url = `${base_url}/api/v1/events?topics=tasks`
    const { status, type, length } = await new Promise<Record<string, unknown>>((resolve) => {
      const asked = request(url, { method: 'HEAD', headers }, (response) => {
        let length = 0
        response.on('data', (part: Buffer) => {
          length += part.length
        })
        const type = response.headers['content-type']
        response.on('end', () => resolve({ status: response.statusCode, type, length }))
      })
      asked.end()
    })
    expect({ status, type, length }).toEqual({
      ...{ status: 200, type: 'text/event-stream; charset=utf-8', length: 0 },
    })
    expect(await streams()).toBe(0)
  })
})

describe('a client that returns', () => {
  test.each([
    ['the header', (id: string) => [{}, { 'last-event-id': id }] as const],
    ['the query parameter', (id: string) => [{ last_event_id: id }, {}] as const],
  ])('gets the events that it missed, by %s', async (_name, about) => {
    const reader = await ready()
    const witness = await ready()
    await changeOneByOne(witness, ['t1'])
    await reader.nextOf('change')
    reader.close()
    await changeOneByOne(witness, ['t2', 't3'])
    const [query, headers] = about(reader.lastId())
    const again = await ready(query, { 'x-api-key': app.first.project_key, ...headers })
    const seen = [await again.next(), await again.next()]
    expect(seen.map((event) => [event?.event, event?.data['changed']])).toEqual([
      ['change', [{ id: 't2' }]],
      ['change', [{ id: 't3' }]],
    ])
    expect(again.lastId()).toBe(witness.lastId())
  })

  test('gets them also after the last stream of the project has ended', async () => {
    const reader = await ready()
    reader.close()
    await eventually('no stream is open', async () => (await streams()) === 0)
    change('t1')
    const again = await ready({ last_event_id: reader.lastId() })
    expect(await again.next()).toMatchObject({ event: 'change', data: { changed: [{ id: 't1' }] } })
  })

  test('is reset when more than 1,000 events have come, and after an unknown id', async () => {
    const reader = await ready()
    const last_event_id = reader.lastId()
    const message = Buffer.from('[{"kind":"task","changed":[{"id":"t"}],"many":false}]')
    for (let at = 0; at <= 1_000; at += 1) broadcast.send(project_id, message)
    for (const id of [last_event_id, 'ffffffffffff-1', 'nonsense']) {
      const again = await ready({ last_event_id: id })
      expect(await again.next()).toMatchObject({ event: 'reset' })
      change('after')
      expect((await again.nextOf('change')).data['changed']).toEqual([{ id: 'after' }])
      again.close()
      await reader.nextOf('change')
    }
  })

  test('with the id of another project is reset', async () => {
    const theirs = await ready({}, { 'x-api-key': foreign.key })
    const again = await ready({ last_event_id: theirs.lastId() })
    expect(await again.next()).toMatchObject({ event: 'reset' })
  })
})

describe('tenants', () => {
  test('see the changes of their own project only', async () => {
    const ours = await ready({ topics: 'tasks,task:shared' })
    const theirs = await ready({ topics: 'tasks,task:shared' }, { 'x-api-key': foreign.key })
    change('shared')
    await ours.nextOf('change')
    change('shared-too', { project_id: foreign.project_id })
    expect((await theirs.nextOf('change')).data['changed']).toEqual([{ id: 'shared-too' }])
    change('end')
    expect((await ours.nextOf('change')).data['changed']).toEqual([{ id: 'end' }])
  })

  test.each([
    ['a key', () => ({ 'x-api-key': foreign.key })],
    ['a person', () => stranger().then((token) => ({ authorization: `Bearer ${token}` }))],
  ])('cannot open the stream of another project with %s', async (_name, credentials) => {
    const reply = await read({ project_id }, await credentials())
    expect([reply.status, reply.body['code']]).toEqual([404, 'project_not_found'])
  })
})

let people = 0
async function stranger(): Promise<string> {
  people += 1
  const email = `stranger-${people}@example.com`
  return (await app.person(email, 'member', foreign.organization_id)).token
}

describe('refused', () => {
  test.each([
    ['without topics', {}],
    ['for an unknown topic', { topics: 'tasks,planets' }],
    ['for a task without an id', { topics: 'task:' }],
    ['for a trace whose id is none', { topics: 'trace:1' }],
    ['for too many topics', { topics: Array.from({ length: 51 }, (_, at) => `task:${at}`).join() }],
    ['for an unknown parameter', { topics: 'tasks', topic: 'x' }],
  ])('%s', async (_name, query) => {
    const url = `/api/v1/events?${new URLSearchParams(query)}`
    const reply = await app.call('GET', url, { key: app.first.project_key })
    expect(outcome(reply)).toEqual([400, 'invalid_request'])
  })

  test('without credentials, and with a key that may not read a topic', async () => {
    expect((await read({}, {})).body).toMatchObject({ status: 401, code: 'credentials_missing' })
    const { key } = await newKey(['tasks:read'])
    for (const topics of ['tasks,incidents', `trace:${trace_id}`]) {
      const reply = await read({ topics }, { 'x-api-key': key })
      expect([reply.status, reply.body['code']]).toEqual([403, 'permission_denied'])
    }
    await ready({ topics: 'tasks,findings,task:1' }, { 'x-api-key': key })
    const ingest = await newKey(['ingest:write'])
    expect((await read({}, { 'x-api-key': ingest.key })).status).toBe(403)
  })

  test('above the maximum of a project and of the process, until a stream ends', async () => {
    const [first] = [await ready(), await ready(), await ready()]
    const refused = await read()
    expect([refused.status, refused.body['code']]).toEqual([503, 'overloaded'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const theirs = { 'x-api-key': foreign.key }
    await ready({}, theirs)
    await ready({}, theirs)
    expect((await read({}, theirs)).body).toMatchObject({ status: 503, code: 'overloaded' })
    first.close()
    await eventually('a place is free', async () => (await streams()) === 4)
    await ready({}, theirs)
  })
})

describe('ends with `bye`', () => {
  test('when its key is revoked', async () => {
    const { id, key } = await newKey(['tasks:read'])
    const reader = await ready({}, { 'x-api-key': key })
    await app.call('POST', `${keys(project_id)}/${id}/revoke`, { token: owner })
    const bye = await reader.nextOf('bye')
    expect(bye.data).toEqual({ reason: 'credentials_invalid', reconnect: false })
    expect(await reader.next()).toBeUndefined()
  })

  test('when a person is no longer a member', async () => {
    const { user_id, token } = await app.person('leaves@example.com', 'member')
    const members = `${root}/projects/${project_id}/members`
    await app.call('PUT', `${members}/${user_id}`, { token: owner, body: { role: 'viewer' } })
    const headers = { authorization: `Bearer ${token}` }
    const reader = await ready({ project_id }, headers)
    const removed = await app.call('DELETE', `${members}/${user_id}`, { token: owner })
    expect(removed.status).toBeLessThan(300)
    expect((await reader.nextOf('bye')).data['reason']).toBe('project_not_found')
  })

  test('when a token has expired', async () => {
    const headers = { authorization: `Bearer ${owner}` }
    const reader = await ready({ project_id }, headers)
    app.clock.ahead_ms = 3_700_000
    expect((await reader.nextOf('bye')).data['reason']).toBe('credentials_invalid')
  })

  test('when the session of a browser ends; a stream alone does not keep it from being idle', async () => {
    const { browser, reader } = await openInBrowser()
    await browser.call('DELETE', '/api/v1/auth/session')
    expect((await reader.nextOf('bye')).data['reason']).toBe('credentials_invalid')
    const idle = await openInBrowser()
    app.clock.ahead_ms = 11 * 3_600_000
    await someChecks(idle.reader)
    // Writes the times of last use.
    await app.access.sessions.close()
    app.clock.ahead_ms = 13 * 3_600_000
    expect((await idle.reader.nextOf('bye')).data['reason']).toBe('credentials_invalid')
  })

  test('not when the browser has renewed its cookie, whose session goes on too', async () => {
    const { browser, reader } = await openInBrowser()
    await browser.call('POST', '/api/v1/auth/session', { body: { grant_type: 'session' } })
    app.clock.ahead_ms = 120_000
    await someChecks(reader)
    expect((await browser.call('GET', '/api/v1/auth/session')).status).toBe(200)
  })

  test('when the process stops, and opens no other', async () => {
    const port = await other.server.listen({ host: '127.0.0.1', port: 0 })
    const headers = { 'x-api-key': other.first.project_key }
    const address = `http://127.0.0.1:${port}`
    const reader = await readEvents(address, { topics: 'tasks' }, headers)
    await reader.nextOf('ready')
    const closed = stopping.close()
    const bye = await reader.nextOf('bye')
    expect(bye.data).toEqual({ reason: 'shutdown', reconnect: true })
    expect(bye.retry_ms).toBeGreaterThan(0)
    expect(await reader.next()).toBeUndefined()
    await closed
    const refused = await readEvents(address, { topics: 'tasks' }, headers)
    expect(refused.body).toMatchObject({ status: 503, code: 'shutting_down' })
  })
})

/** Waits for comments, between which the rights are checked, and for a change after them. */
async function someChecks(reader: EventReader): Promise<void> {
  const pending = reader.next()
  const before = reader.comments()
  await eventually('some checks', () => reader.comments() >= before + 10)
  change('t1')
  expect(await pending).toMatchObject({ event: 'change' })
}

/** Opens a stream with the session cookie of a browser, as its `EventSource` does. */
async function openInBrowser() {
  const browser = openBrowser(app)
  const { admin_email: username, admin_password } = app.first
  const body = { grant_type: 'password', username, password: admin_password }
  const started = await browser.call('POST', '/api/v1/auth/session', { body })
  expect(started.status).toBe(201)
  const cookie = [...browser.own].map(([name, value]) => `${name}=${value}`).join('; ')
  const reader = await ready({ project_id }, { cookie, 'sec-fetch-site': 'same-origin' })
  return { browser, reader }
}

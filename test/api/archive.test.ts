import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorizer } from '../../src/capabilities/access/index.ts'
import { archiveRoutes, readySlices } from '../../src/capabilities/lifecycle/archive/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Blobs } from '../../src/platform/blobs/index.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import { openIdempotencyStore } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { type AccessApp, type Json, startAccessApp } from '../support/access-app.ts'
import {
  type ArchiveDesk,
  daysFrom,
  folderBlobs,
  openArchiveDesk,
  writeRecords,
} from '../support/archives.ts'
import { eventually } from '../support/eventually.ts'
import { testPostgres } from '../support/postgres.ts'

const base = '/api/v2/observability'
let app: AccessApp
let desk: ArchiveDesk
let blobs: Blobs
let server: HttpServer
let unconfigured: HttpServer
let owner: string
let project_id: string

beforeAll(async () => {
  const database_url = await testPostgres()
  app = await startAccessApp({ database_url })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  project_id = app.first.project_id
  blobs = await folderBlobs()
  desk = await openArchiveDesk(blobs, { database_url, clock: app.clock })
  await writeRecords(desk.columnar, { project_id, days: 2, each: 10 })
  server = await serverOf(true)
  unconfigured = await serverOf(false)
})
afterAll(async () => {
  await server.close()
  await unconfigured.close()
  await desk.close()
  await app.close()
})

function serverOf(is_configured: boolean) {
  const { db, restored } = desk
  return createHttpServer({
    routes: archiveRoutes({ db, restored, clock: app.clock, is_configured }),
    authorize: authorizer(app.access),
    idempotency: openIdempotencyStore(app.relational.db),
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: app.clock,
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 10_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
}

type Wish = { token?: string; project?: string; headers?: Record<string, string>; at?: HttpServer }

async function send(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
  wish: Wish = {},
) {
  const { token = owner, project = project_id, headers = {}, at = server } = wish
  const reply = await at.inject({
    method,
    url: `${base}${path}`,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      'x-project-id': project,
      ...headers,
    },
    ...(body !== undefined && { payload: body as object }),
  })
  return { status: reply.statusCode, body: (reply.body === '' ? null : reply.json()) as Json }
}
const get = (path: string, wish?: Wish) => send('GET', path, undefined, wish)
const post = (path: string, body: unknown, wish?: Wish) => send('POST', path, body, wish)

const ended = (path: string, job_id: string) =>
  eventually(
    `the run at ${path}`,
    async () => {
      const { body } = await get(`${path}/${job_id}`)
      return ['succeeded', 'failed'].includes(body.state) && body
    },
    { timeout_ms: 30_000, interval_ms: 20 },
  )
const archived = async (body: object = { window: daysFrom(2) }) => {
  const reply = await post('/archive/run', body)
  expect(reply.status).toBe(202)
  return ended('/archive/runs', reply.body.job_id)
}
let whole: ReturnType<typeof archived> | undefined
/** An archive of all rows, for tests that leave it as it is. */
const wholeArchive = () => (whole ??= archived())
const restored = async (body: object) => {
  const reply = await post('/restore', body)
  expect(reply.status).toBe(202)
  return ended('/restore/runs', reply.body.job_id)
}
const otherProject = async () => {
  const { organization_id } = app.first
  const url = `/api/v2/access/organizations/${organization_id}/projects`
  const reply = await app.call('POST', url, { token: owner, body: { name: `other ${newId()}` } })
  return reply.body.project_id ?? reply.body.id
}

describe('archive runs', () => {
  test("a run's record has the request, its progress and its result", async () => {
    const window = daysFrom(2)
    const reply = await post('/archive/run', { window, reason: 'the end of a quarter' })
    expect(reply).toMatchObject({
      status: 202,
      body: { kind: 'archive', state: 'queued', window, where: null, result: null },
    })
    expect(reply.body.kinds).toHaveLength(5)
    const run = await ended('/archive/runs', reply.body.job_id)
    expect(run).toMatchObject({ state: 'succeeded', reason: 'the end of a quarter', attempt: 1 })
    expect(run.result).toMatchObject({ verified: true, rows: 100, files: 10 })
    expect(run.progress).toMatchObject({ files: 10, rows: 100 })
    expect(await blobs.stat(run.result.manifest)).toBeDefined()
    expect((await get('/archive/runs?limit=1')).body.runs).toHaveLength(1)
    expect((await get('/archive/runs')).body.runs[0].job_id).toBe(run.job_id)
  })

  test('only rows that match the filter are archived', async () => {
    const run = await archived({
      window: daysFrom(2),
      kinds: ['observations', 'traces'],
      where: { field: 'user_id', op: 'in', value: ['user-1', 'user-2'] },
    })
    expect(run).toMatchObject({ state: 'succeeded', result: { rows: 16 } })
    const maps = await archived({
      window: daysFrom(2),
      kinds: ['observations'],
      where: {
        and: [
          { field: 'attributes.n', op: 'eq', value: '7' },
          { field: "attributes.it's", op: 'exists', value: true },
          { not: { field: 'status', op: 'eq', value: "') OR 1=1 --" } },
        ],
      },
    })
    expect(maps).toMatchObject({ state: 'succeeded', result: { rows: 1 } })
  })

  test('answers match the OpenAPI document, with a filter and without', async () => {
    const where = { field: 'source', op: 'eq', value: 'otlp' }
    const kinds = ['traces', 'links']
    for (const body of [{ window: daysFrom(1) }, { window: daysFrom(1), kinds, where }]) {
      const asked = await post('/archive/run', body)
      expect(asked.body.where).toEqual('where' in body ? where : null)
      await ended('/archive/runs', asked.body.job_id)
      expect((await get(`/archive/runs/${asked.body.job_id}`)).status).toBe(200)
    }
    expect((await get('/archive/runs')).status).toBe(200)
  })

  test('the same Idempotency-Key creates one run', async () => {
    const headers = { 'idempotency-key': newId() }
    const [first, second] = [
      await post('/archive/run', { window: daysFrom(1) }, { headers }),
      await post('/archive/run', { window: daysFrom(1) }, { headers }),
    ]
    expect(second.body.job_id).toBe(first.body.job_id)
  })

  test.each([
    ['no window', {}, '/window'],
    ['an unknown field', { window: daysFrom(1), compress: true }, '/compress'],
    [
      'a window turned round',
      { window: { from: daysFrom(1).to, to: daysFrom(1).from } },
      '/window/from',
    ],
    ['no instant', { window: { from: 'yesterday', to: daysFrom(1).to } }, '/window/from'],
    [
      'a window of years',
      { window: { from: '2020-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' } },
      '/window',
    ],
    ['an unknown kind', { window: daysFrom(1), kinds: ['tasks'] }, '/kinds/0'],
    ['a kind twice', { window: daysFrom(1), kinds: ['links', 'links'] }, '/kinds'],
    ['no kind', { window: daysFrom(1), kinds: [] }, '/kinds'],
    [
      'a field that a kind has not',
      { window: daysFrom(1), where: { field: 'model', op: 'eq', value: 'x' } },
      '/where/field',
    ],
    [
      'an unknown operator',
      { window: daysFrom(1), where: { field: 'source', op: 'like', value: 'x' } },
      '/where/op',
    ],
    ['an invalid filter', { window: daysFrom(1), where: 'all' }, '/where'],
    ['a reason beyond measure', { window: daysFrom(1), reason: 'x'.repeat(1_001) }, '/reason'],
  ])('%s is refused, with its position', async (_, body, pointer) => {
    const reply = await post('/archive/run', body)
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(reply.body.errors.map((fault: { pointer: string }) => fault.pointer)).toContain(pointer)
  })

  test('without a location for archives nothing is started', async () => {
    const run = await post('/archive/run', { window: daysFrom(1) }, { at: unconfigured })
    expect(run).toMatchObject({ status: 409, body: { code: 'archive_not_configured' } })
    const body = { archive_run_id: newId(), slice: 'a' }
    const restore = await post('/restore', body, { at: unconfigured })
    expect(restore).toMatchObject({ status: 409, body: { code: 'archive_not_configured' } })
  })
})

describe('restore', () => {
  test('a slice exists when its run has ended, is listed, and can be deleted', async () => {
    const archive = await wholeArchive()
    const body = { archive_run_id: archive.job_id, slice: 'incident-42', expires_in_days: 3 }
    const run = await restored(body)
    expect(run).toMatchObject({ state: 'succeeded', result: { rows: 100, erased_rows: 0 } })
    const { slices } = (await get('/restore/slices')).body
    expect(slices).toHaveLength(1)
    expect(slices[0]).toMatchObject({
      slice: 'incident-42',
      state: 'ready',
      rows: 100,
      window: null,
    })
    expect(Date.parse(slices[0].expires_at) - Date.parse(slices[0].created_at)).toBe(3 * 86_400_000)
    const again = await post('/restore', body)
    expect(again).toMatchObject({ status: 409, body: { code: 'name_taken' } })
    const { slice_id } = slices[0]
    expect((await send('DELETE', `/restore/slices/${slice_id}`)).status).toBe(204)
    expect((await get('/restore/slices')).body).toMatchObject({ slices: [], total: 0 })
    await eventually(
      'the slice has ended',
      async () => (await desk.slice(slice_id))?.state === 'ended',
    )
    expect(await send('DELETE', `/restore/slices/${slice_id}`)).toMatchObject({ status: 404 })
    expect((await post('/restore', body)).status).toBe(202)
  })

  test('an expired slice is seen by no query, and its rows are dropped', async () => {
    const archive = await wholeArchive()
    const run = await restored({
      archive_run_id: archive.job_id,
      kinds: ['observations'],
      slice: 'short',
      expires_in_days: 1,
    })
    const { db, columnar } = desk
    const seen = async () =>
      (await readySlices(db, { project_id, now: new Date(app.clock.now_ms()) })).includes(
        run.slice_id,
      )
    expect(await seen()).toBe(true)
    app.clock.ahead_ms = 25 * 3_600_000
    try {
      expect(await seen()).toBe(false)
      await eventually('its rows are dropped', async () => {
        const sql = 'SELECT count() AS n FROM restored_observations WHERE slice_id = {slice:UUID}'
        const [row] = await columnar.query<{ n: string }>(sql, { slice: run.slice_id })
        return row?.n === '0'
      })
    } finally {
      app.clock.ahead_ms = 0
    }
  })

  test.each([
    ['no archive', { slice: 'a' }, '/archive_run_id'],
    ['no name', { archive_run_id: newId() }, '/slice'],
    ['an invalid name', { archive_run_id: newId(), slice: '../a' }, '/slice'],
    ['no end', { archive_run_id: newId(), slice: 'a', expires_in_days: 0 }, '/expires_in_days'],
    ['an unknown field', { archive_run_id: newId(), slice: 'a', into: 'live' }, '/into'],
  ])('%s is refused, with its position', async (_, body, pointer) => {
    const reply = await post('/restore', body)
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(reply.body.errors.map((fault: { pointer: string }) => fault.pointer)).toContain(pointer)
  })

  test('only a complete archive can be restored, and only days that it has', async () => {
    const archive = await archived({ window: daysFrom(1), kinds: ['links'] })
    const beside = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
    const outside = { archive_run_id: archive.job_id, slice: 'outside', window: beside }
    expect(await post('/restore', outside)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/window' }] },
    })
    await desk.db
      .updateTable('job_runs')
      .set({ state: 'failed' })
      .where('id', '=', archive.job_id)
      .execute()
    const failed = { archive_run_id: archive.job_id, slice: 'failed' }
    expect(await post('/restore', failed)).toMatchObject({
      status: 409,
      body: { code: 'archive_not_verified' },
    })
  })
})

describe('permissions', () => {
  test("another project's runs and slices are not found", async () => {
    const archive = await wholeArchive()
    const kinds = ['links']
    const run = await restored({ archive_run_id: archive.job_id, kinds, slice: 'mine' })
    const project = await otherProject()
    const asked = [
      await get(`/archive/runs/${archive.job_id}`, { project }),
      await get(`/restore/runs/${run.job_id}`, { project }),
      await get(`/archive/runs/${run.job_id}`),
      await get('/archive/runs/no-uuid'),
      await post('/restore', { archive_run_id: archive.job_id, slice: 'theirs' }, { project }),
      await send('DELETE', `/restore/slices/${run.slice_id}`, undefined, { project }),
    ]
    for (const { status } of asked) expect(status).toBe(404)
    expect((await get('/restore/slices', { project })).body.slices).toEqual([])
    expect((await get('/archive/runs', { project })).body.runs).toEqual([])
    expect(await desk.slice(run.slice_id)).toMatchObject({ state: 'ready' })
    const { next_cursor } = (await get('/archive/runs?limit=1')).body
    const foreign = await get(`/restore/runs?cursor=${next_cursor}`)
    expect(foreign).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  })

  test('reading needs a viewer, everything else an admin, and keys are refused', async () => {
    const { token, user_id } = await app.person('viewer@example.org', 'member')
    const members = `/api/v2/access/projects/${project_id}/members/${user_id}`
    await app.call('PUT', members, { token: owner, body: { role: 'editor' } })
    const writes = [
      await post('/archive/run', { window: daysFrom(1) }, { token }),
      await post('/restore', { archive_run_id: newId(), slice: 'a' }, { token }),
      await send('DELETE', `/restore/slices/${newId()}`, undefined, { token }),
    ]
    for (const { status } of writes) expect(status).toBe(403)
    for (const path of ['/archive/runs', '/restore/runs', '/restore/slices']) {
      expect((await get(path, { token })).status).toBe(200)
      expect((await get(path, { token: '' })).status).toBe(401)
      const headers = { 'x-api-key': app.first.project_key ?? '' }
      expect((await get(path, { token: '', headers })).status).toBe(401)
    }
  })
})

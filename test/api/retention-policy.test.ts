import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { dateAgo, daysAgo, openRetentionApi, type RetentionApi } from '../support/retention-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

const path = '/retention-policy'
const forever = { content: null, observations: null, traces: null, events: null }
let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

test('everything is kept for ever by default', async () => {
  const project = await api.newProject()
  expect(await api.call('GET', path, project)).toEqual({
    status: 200,
    etag: expect.stringMatching(/^"0-/),
    body: {
      project_id: project,
      days: forever,
      environments: [],
      archive_before_delete: false,
      version: 0,
      updated_at: null,
      updated_by: null,
      archive: null,
      managed_by: null,
      legal_holds: [],
      last_run: null,
      deleted_rows: 0,
      deleted_bytes: 0,
      next_run_at: null,
      next_archive_at: null,
      held_count: 0,
    },
  })
})

test('a stored policy is read back, by its own project only', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const environments = [{ environment: 'dev', days: { observations: 7, content: 3, events: 5 } }]
  const body = {
    days: { content: 30, observations: 90 },
    environments: [],
    archive_before_delete: true,
  }
  const set = await api.call('PUT', path, project, { body })
  expect([set.status, set.etag]).toEqual([200, '"1"'])
  expect(set.body).toMatchObject({
    days: { content: 30, observations: 90, traces: null, events: 90 },
    archive_before_delete: true,
    version: 1,
    updated_by: 'key:key-1',
  })
  expect((await api.call('GET', path, project)).body).toEqual(set.body)
  expect((await api.call('GET', path, other)).body['version']).toBe(0)
  const again = await api.call('PUT', path, project, { body: { days: {}, environments } })
  expect(again.body).toMatchObject({ days: forever, environments, version: 2 })
})

test('a change with If-Match is made only if the policy has not changed since', async () => {
  const project = await api.newProject()
  const put = (match: string, observations: number) =>
    api.call('PUT', path, project, {
      headers: { ...keyOf(project, 'retention:write'), 'if-match': match },
      body: { days: { observations } },
    })
  expect((await put('"0"', 10)).status).toBe(200)
  expect(await put('"0"', 20)).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
  expect((await put('"7"', 20)).status).toBe(412)
  expect((await put('W/"1"', 20)).status).toBe(412)
  expect((await put('"1"', 20)).status).toBe(200)
  expect((await put('*', 30)).status).toBe(200)
  expect((await api.call('GET', path, project)).body).toMatchObject({
    ...{ version: 3, days: { observations: 30 } },
  })
})

test.each([
  [{ days: { observations: 0 } }, '/days/observations'],
  [{ days: { observations: 1.5 } }, '/days/observations'],
  [{ days: { observations: '30' } }, '/days/observations'],
  [{ days: { observations: 40_000 } }, '/days/observations'],
  [{ days: { content: 31, observations: 30 } }, '/days/content'],
  [{ days: { observations: 31, traces: 30 } }, '/days/observations'],
  [{ days: { traces: 30 } }, '/days/observations'],
  [{ days: { observations: 30, events: 31 } }, '/days/events'],
  [{ days: { spans: 3 } }, '/days/spans'],
  [{}, '/days'],
  [{ days: {}, keep: true }, '/keep'],
  [{ days: {}, archive_before_delete: 'yes' }, '/archive_before_delete'],
  [
    { days: {}, environments: [{ environment: 'a', days: { content: 9, observations: 8 } }] },
    '/environments/0/days/content',
  ],
  [
    {
      days: { observations: 30, events: 30 },
      environments: [{ environment: 'a', days: { observations: 7, events: 8 } }],
    },
    '/environments/0/days/events',
  ],
  [
    {
      days: {},
      environments: [
        { environment: 'a', days: {} },
        { environment: 'a', days: {} },
      ],
    },
    '/environments/1/environment',
  ],
  [{ days: {}, environments: [{ environment: '', days: {} }] }, '/environments/0/environment'],
])('%j is refused with a pointer', async (body, pointer) => {
  const refused = await api.call('PUT', path, await api.newProject(), { body })
  expect(refused).toMatchObject({
    ...{ status: 400, body: { code: 'invalid_request' } },
  })
  const { errors } = refused.body as { errors: { pointer: string }[] }
  expect(errors.map((fault) => fault.pointer)).toContain(pointer)
})

test('permissions', async () => {
  const project = await api.newProject()
  const body = { days: {} }
  const status = async (method: 'GET' | 'PUT', headers: Record<string, string>) =>
    (await api.call(method, path, project, method === 'GET' ? { headers } : { headers, body }))
      .status
  expect(await status('GET', {})).toBe(401)
  expect(await status('GET', tokenOf('viewer', project))).toBe(200)
  expect(await status('PUT', tokenOf('viewer', project))).toBe(403)
  expect(await status('PUT', tokenOf('editor', project))).toBe(403)
  expect(await status('PUT', tokenOf('admin', project))).toBe(200)
  expect(await status('GET', keyOf(project, 'traces:read'))).toBe(403)
  expect(await status('PUT', keyOf(project, 'ingest:write'))).toBe(403)
  expect(await status('PUT', keyOf(project, 'retention:write'))).toBe(200)
})

test('a dry run reports what would be deleted, and neither deletes nor stores anything', async () => {
  const project = await api.newProject()
  const trace_id = newId()
  await api.seed(project, {
    observations: [
      { trace_id, observation_id: 'a', start_time: daysAgo(40), environment: 'prod' },
      { trace_id, observation_id: 'b', start_time: daysAgo(40), environment: 'dev' },
      { trace_id, observation_id: 'c', start_time: daysAgo(31), environment: 'prod' },
      { trace_id, observation_id: 'd', start_time: daysAgo(30), environment: 'prod' },
      { trace_id, observation_id: 'e', start_time: daysAgo(-1), environment: 'prod' },
    ],
  })
  const body = { days: { observations: 30, events: 30 } }
  const before = await api.call('GET', path, project)
  const dry = await api.dryRun(project, { method: 'PUT', path: `${path}?dry_run=true`, body })
  expect(dry).toMatchObject({
    ...{ dry_run: true, state: 'succeeded', kind: 'retention_dry_run' },
    rules: { days: { content: null, ...body.days, traces: null }, environments: [] },
  })
  const bucket = (ago: number, environment: string, more = {}) => ({
    day: dateAgo(ago),
    ...{ kind: 'observations', environment, action: 'delete', reason: null, rows: 1 },
    bytes: expect.any(Number),
    held_rows: 0,
    ...more,
  })
  expect(dry.buckets).toMatchObject([
    bucket(40, 'dev'),
    bucket(40, 'prod'),
    bucket(31, 'prod'),
    bucket(-1, 'prod', { action: 'keep', reason: 'in_future' }),
  ])
  expect(dry.result).toMatchObject({ deleted_rows: 3, buckets: 4, is_partial: false })
  expect(await api.call('GET', path, project)).toEqual(before)
  const nothing = await api.dryRun(project, { method: 'GET', path: `${path}?dry_run=true` })
  expect(nothing).toMatchObject({ buckets: [], result: { deleted_rows: 0 } })
  expect((await api.rows(project))['observations']).toBe(5)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionApi, openDetectionApi } from '../support/detection.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: DetectionApi
beforeAll(async () => {
  api = await openDetectionApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const path = '/detection/settings'

function looping(project_id: string, task_id: string, times: number) {
  return agentRun(`${project_id} ${task_id}`, { project_id, task_id, tools: ['look'] })
    .user('Where is the order?')
    .times(times, (run) => run.tool({ name: 'look', args: { id: 7 } }, 'nothing there'))
    .assistant('I still look.')
    .observations()
}

const put = (project: string, detectors: object, headers: Record<string, string> = {}) =>
  api.call('PUT', path, {
    headers: { ...tokenOf('admin', project), ...headers },
    body: { detectors },
  })

test('a project has the defaults until it sets something, and the version identifies the settings', async () => {
  const project = await api.bench.newProject()
  const first = await api.get(project, path)
  expect(first).toMatchObject({
    status: 200,
    etag: expect.stringMatching(/^"0-/),
    body: { project_id: project, version: 0, updated_at: null, updated_by: null },
  })
  expect(first.body['detectors']).toMatchObject({ repeat_call: { enabled: true, repeats: 3 } })
  const changed = await put(project, { repeat_call: { repeats: 4 } }, { 'if-match': '"0"' })
  expect(changed).toMatchObject({
    status: 200,
    etag: '"1"',
    body: {
      version: 1,
      updated_by: expect.stringMatching(/^user:./),
      detectors: { repeat_call: { enabled: true, repeats: 4 }, cycle: {} },
    },
  })
  expect(await put(project, {}, { 'if-match': '"0"' })).toMatchObject({
    status: 412,
    body: { code: 'precondition_failed' },
  })
  expect((await api.get(project, path)).body).toMatchObject({
    detectors: { repeat_call: { repeats: 4 } },
  })
  const other = await api.get(await api.bench.newProject(), path)
  expect(other.body).toMatchObject({ version: 0, detectors: { repeat_call: { repeats: 3 } } })
})

test('an unknown setting is refused with its position', async () => {
  const project = await api.bench.newProject()
  const refused = [
    [{ psychic: {} }, '/detectors'],
    [{ repeat_call: { laps: 3 } }, '/detectors/repeat_call'],
    [{ repeat_call: { repeats: 0 } }, '/detectors/repeat_call/repeats'],
    [{ repeat_call: { enabled: 'no' } }, '/detectors/repeat_call/enabled'],
  ] as const
  for (const [detectors, pointer] of refused) {
    const { status, body } = await put(project, detectors)
    expect(status).toBe(400)
    const [fault] = body['errors'] as { pointer: string }[]
    expect(fault?.pointer.startsWith(pointer)).toBe(true)
  }
})

test('only an admin of the project sets them, and readers of tasks read them', async () => {
  const project = await api.bench.newProject()
  const as = async (method: 'GET' | 'PUT', headers: Record<string, string>) =>
    (
      await api.call(method, path, {
        headers,
        ...(method === 'PUT' && { body: { detectors: {} } }),
      })
    ).status
  expect(await as('PUT', tokenOf('editor', project))).toBe(403)
  expect(await as('PUT', keyOf(project))).toBe(401)
  expect(await as('PUT', tokenOf('admin', project))).toBe(200)
  expect(await as('GET', {})).toBe(401)
  expect(await as('GET', keyOf(project, 'feedback:write'))).toBe(403)
  expect(await as('GET', tokenOf('viewer', project))).toBe(200)
})

test('thresholds apply to the next analysis, and a disabled detector finds nothing', async () => {
  const project = await api.bench.newProject()
  await api.bench.bring(looping(project, 'four', 4))
  const first = await api.post(project, '/tasks/four/detect')
  expect(first.body).toMatchObject({ opened: [{ type: 'repeat_call', severity: 'medium' }] })
  await put(project, { repeat_call: { high_repeats: 4 } })
  const harsher = await api.post(project, '/tasks/four/detect')
  expect(harsher.body).toMatchObject({ updated: [{ type: 'repeat_call', severity: 'high' }] })
  await put(project, { repeat_call: { enabled: false } })
  const off = await api.post(project, '/tasks/four/detect')
  expect(off.body['withdrawn']).toHaveLength(1)
})

test('a preview reports what other thresholds would find, and writes nothing', async () => {
  const project = await api.bench.newProject()
  await api.bench.bring([...looping(project, 'three', 3), ...looping(project, 'six', 6)])
  for (const task of ['three', 'six']) await api.post(project, `/tasks/${task}/detect`)
  const preview = await api.post(project, `${path}/preview`, {
    detectors: { repeat_call: { repeats: 5, high_repeats: 10 } },
  })
  expect(preview).toMatchObject({
    status: 200,
    body: {
      ...{ tasks: 2, skipped: 0, findings_now: 2, findings_asked: 1 },
      by_type: [{ type: 'repeat_call', now: 2, asked: 1 }],
    },
  })
  expect(preview.body['changes']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ task_id: 'three', change: 'removed', severity_now: 'medium' }),
      expect.objectContaining({ task_id: 'six', change: 'changed', severity_now: 'high' }),
    ]),
  )
  const still = await api.get(project, '/tasks/three/findings')
  expect(still.body).toMatchObject({ total: 1, findings: [{ state: 'open' }] })
  const stranger = await api.post(await api.bench.newProject(), `${path}/preview`, {
    detectors: {},
  })
  expect(stranger.body).toMatchObject({ tasks: 0, changes: [] })
  const denied = await api.call('POST', `${path}/preview`, {
    headers: keyOf(project, 'tasks:read'),
    body: { detectors: {} },
  })
  expect(denied.status).toBe(403)
})

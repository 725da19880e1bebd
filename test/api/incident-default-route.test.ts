import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IncidentApi, type Json, openIncidentApi } from '../support/incident-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: IncidentApi
let project: string
beforeAll(async () => {
  api = await openIncidentApi()
})
beforeAll(async () => {
  project = await api.newProject()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const path = '/default-route'
const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body?.code]
const get = (project_id = project) => api.call('GET', path, project_id)
const put = (matches: unknown, project_id = project, about: object = {}) =>
  api.call('PUT', path, project_id, { body: { matches }, ...about })

describe('the default route', () => {
  test('is empty before the first change, and replaced with its ETag', async () => {
    const mine = await api.newProject()
    const none = await get(mine)
    expect([none.headers['etag'], none.body]).toEqual([
      expect.stringMatching(/^"0-/),
      { matches: [], version: 0, updated_at: null, updated_by: null, warnings: [] },
    ])
    const matches = [
      { min_severity: 'high', labels: { team: 'pay*' }, notify: ['pager'] },
      { labels: {}, notify: ['chat'] },
    ]
    const first = await put(matches, mine, { if_match: '"0"' })
    expect([first.status, first.headers['etag']]).toEqual([200, '"1"'])
    expect(first.body).toMatchObject({ matches, version: 1, updated_by: 'user:user-1' })
    expect(codeOf(await put([], mine, { if_match: '"0"' }))).toEqual([412, 'precondition_failed'])
    expect((await put([], mine, { if_match: '"1"' })).body).toMatchObject({ matches: [] })
    expect((await put(matches, mine)).body.version).toBe(3)
    expect((await get(mine)).body.matches).toEqual(matches)
    expect((await get()).body.matches).toEqual([])
  })

  test('warns about unknown channels and about matches that never or not always apply', async () => {
    const warningsOf = async (...matches: object[]) => (await put(matches)).body.warnings
    expect(await warningsOf({ notify: ['x'] })).toEqual([
      'No channel has the name `x`. Create it, or no message reaches it.',
    ])
    expect(await warningsOf({ min_severity: 'low', notify: ['x'] })).toContain(
      'No match is without conditions, so that some rules may have no channel.',
    )
    expect(await warningsOf({ notify: ['x'] }, { notify: ['x'] })).toContain(
      'Match 1 has no conditions, so that the matches after it never apply.',
    )
    await put([])
  })

  test.each([
    ['no list', undefined],
    ['no channel', [{ notify: [] }]],
    ['an unknown severity', [{ min_severity: 'bad', notify: ['x'] }]],
    ['an invalid label', [{ labels: { 'A-b': 'x' }, notify: ['x'] }]],
    ['too many matches', Array.from({ length: 51 }, () => ({ notify: ['x'] }))],
    ['text that cannot be stored', [{ notify: ['a\u0000'] }]],
    ['another field', [{ notify: ['x'], severity: 'low' }]],
  ])('refuses %s', async (_, matches) => {
    expect(codeOf(await put(matches))).toEqual([400, 'invalid_request'])
  })

  test('admins set it; viewers and keys with `incidents:read` read it', async () => {
    const as = async (method: 'GET' | 'PUT', headers: Record<string, string>) =>
      (
        await api.call(method, path, project, {
          headers,
          ...(method === 'PUT' && { body: { matches: [] } }),
        })
      ).status
    expect(await as('PUT', tokenOf('editor', project))).toBe(403)
    expect(await as('PUT', keyOf(project, 'incidents:write'))).toBe(401)
    expect(await as('GET', tokenOf('viewer', project))).toBe(200)
    expect(await as('GET', keyOf(project, 'incidents:read'))).toBe(200)
    expect(await as('GET', keyOf(project, 'tasks:read'))).toBe(403)
  })

  test('a rule without channels warns only if the route has none for it', async () => {
    const mine = await api.newProject()
    const condition = { signal: 'cost', window: '10m', threshold: 5 }
    const rule = { name: 'dear', severity: 'high', condition }
    const made = await api.call('POST', '/rules', mine, { body: rule })
    const silent = [
      '`notify` and `escalation` name no channel, nor does the default route, so no message is sent.',
    ]
    expect(made.body.warnings).toEqual(silent)
    const read = async () =>
      (await api.call('GET', `/rules/${made.body.rule_id}`, mine)).body.warnings
    await put([{ min_severity: 'critical', notify: ['x'] }], mine)
    expect(await read()).toEqual(silent)
    await put([{ min_severity: 'high', notify: ['x'] }], mine)
    expect(await read()).toEqual([])
  })
})

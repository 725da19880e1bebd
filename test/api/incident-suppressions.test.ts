import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
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

const path = '/suppressions'
/** The clock of the routes is at noon of 2026-11-23. */
const muteOf = (change: object = {}) => ({
  matchers: [{ field: 'rule', value: 'slow-answers' }],
  expires_at: '2026-11-23T18:00:00Z',
  comment: 'maintenance',
  ...change,
})

async function created(change: object = {}, project_id = project): Promise<Json> {
  const reply = await api.call('POST', path, project_id, { body: muteOf(change) })
  expect([reply.status, reply.body.code]).toEqual([201, undefined])
  return reply.body
}

const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body?.code]

test('a suppression is created, read, replaced by its version, and deleted', async () => {
  const body = await created()
  expect(body).toMatchObject({
    ...{ state: 'active', active: true, next_start: null, muted_incidents: 0, version: 1 },
    ...{ created_by: 'user:user-1', windows: [], matchers: [{ op: 'eq' }] },
  })
  const one = `${path}/${body.suppression_id}`
  expect((await api.call('GET', one, project)).body).toEqual(body)
  const put = (etag: string, comment: string) =>
    api.call('PUT', one, project, { body: muteOf({ comment }), if_match: etag })
  const changed = await put('"1"', 'longer')
  expect([changed.status, changed.headers['etag'], changed.body.comment]).toEqual([
    200,
    '"2"',
    'longer',
  ])
  expect(codeOf(await put('"1"', 'stale'))).toEqual([412, 'precondition_failed'])
  const stale = await api.call('DELETE', one, project, { if_match: '"1"' })
  expect(codeOf(stale)).toEqual([412, 'precondition_failed'])
  expect((await api.call('DELETE', one, project, { if_match: '"2"' })).status).toBe(204)
  expect(codeOf(await api.call('GET', one, project))).toEqual([404, 'suppression_not_found'])
})

test('one that is always on or names what no rule has warns, also in its preview', async () => {
  const odd = {
    ...{ expires_at: undefined, recurrence: { cron: '* * * * *', duration: '1h' } },
    matchers: [{ field: 'labels.taem', value: 'a' }],
  }
  const { suppression_id, warnings } = await created(odd)
  expect(warnings).toEqual([
    expect.stringContaining('always on'),
    expect.stringContaining('no rule has the label `taem`'),
  ])
  const one = await api.call('GET', `${path}/${suppression_id}`, project)
  expect(one.body.warnings).toEqual(warnings)
  const preview = await api.call('POST', `${path}/preview`, project, { body: muteOf(odd) })
  expect(preview.body.warnings).toEqual(warnings)
  await api.call('DELETE', `${path}/${suppression_id}`, project)
})

test('suppressions are listed by state, newest first, in pages', async () => {
  const other = await api.newProject()
  const window = (from: string, to: string) => ({ expires_at: undefined, windows: [{ from, to }] })
  const daily = { cron: '0 2 * * *', duration: '1h', time_zone: 'Europe/Berlin' }
  const active = await created({}, other)
  const upcoming = [
    await created(window('2026-11-24T00:00:00Z', '2026-11-24T01:00:00Z'), other),
    await created({ expires_at: undefined, recurrence: daily }, other),
  ]
  const expired = [
    await created(window('2026-11-22T00:00:00Z', '2026-11-22T01:00:00Z'), other),
    await created({ expires_at: '2026-11-23T12:00:00Z' }, other),
    await created({ recurrence: daily, expires_at: '2026-11-24T01:00:00Z' }, other),
  ]
  expect(upcoming.map(({ next_start }) => next_start)).toEqual([
    '2026-11-24T00:00:00.000Z',
    '2026-11-24T01:00:00.000Z',
  ])
  expect(upcoming[0].next_windows).toEqual([
    { from: '2026-11-24T00:00:00.000Z', to: '2026-11-24T01:00:00.000Z' },
  ])
  expect(upcoming[1].next_windows).toHaveLength(14)
  expect(expired.map(({ next_windows }) => next_windows)).toEqual([[], [], []])
  const idsOf = async (query: string) => {
    const { body } = await api.call('GET', `${path}${query}`, other)
    return body.suppressions.map((one: Json) => one.suppression_id)
  }
  const ids = (some: Json[]) => some.map((one) => one.suppression_id).toReversed()
  expect(await idsOf('?state=active')).toEqual(ids([active]))
  expect(await idsOf('?state=upcoming')).toEqual(ids(upcoming))
  expect(await idsOf('?state=expired')).toEqual(ids(expired))
  const first = await api.call('GET', `${path}?limit=4`, other)
  expect(first.body.total).toBe(6)
  const rest = await idsOf(`?limit=4&cursor=${first.body.next_cursor}`)
  expect(rest).toEqual(ids([active, ...upcoming.slice(0, 1)]))
})

test('shows how many unresolved incidents are muted now', async () => {
  const other = await api.newProject()
  const { suppression_id } = await created({}, other)
  const muted = { suppressed: true, core: { suppressed_by: [suppression_id, 'person'] } }
  await api.insertIncident(other, muted)
  await api.insertIncident(other, { ...muted, state: 'resolved' })
  await api.insertIncident(other)
  const { body } = await api.call('GET', `${path}/${suppression_id}`, other)
  expect(body.muted_incidents).toBe(1)
})

test('a preview lists the unresolved incidents that match, and stores nothing', async () => {
  const other = await api.newProject()
  const dear = { severity: 'critical' as const, labels: '{"team":"chat"}' }
  const id = await api.insertIncident(other, dear)
  await api.insertIncident(other, { ...dear, state: 'resolved' })
  await api.insertIncident(other, { severity: 'low', labels: '{"team":"chat"}' })
  await api.insertIncident(project, dear)
  const matchers = [
    { field: 'labels.team', op: 'glob', value: 'ch*' },
    { field: 'severity', op: 'gte', value: 'high' },
  ]
  const reply = await api.call('POST', `${path}/preview`, other, { body: muteOf({ matchers }) })
  expect(reply.body).toMatchObject({ active: true, next_start: null, compared: 2, matching: 1 })
  expect(reply.body.incidents.map((one: Json) => one.incident_id)).toEqual([id])
  expect((await api.call('GET', path, other)).body.total).toBe(0)
})

test('hostile globs of a preview do not keep other requests waiting', async () => {
  const other = await api.newProject()
  const text = 'a'.repeat(256)
  const labels = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`l${at}`, text]))
  for (let at = 0; at < 100; at += 1) {
    await api.insertIncident(other, { labels: JSON.stringify(labels) })
  }
  // Each comparison takes the product of both lengths, and matches.
  const value = `${'*a'.repeat(127)}*`
  const matchers = Object.keys(labels).map((name) => ({
    ...{ field: `labels.${name}`, op: 'glob', value },
  }))
  const preview = api.call('POST', `${path}/preview`, other, { body: muteOf({ matchers }) })
  let longest_ms = 0
  let last_ms = performance.now()
  const watch = setInterval(() => {
    longest_ms = Math.max(longest_ms, performance.now() - last_ms)
    last_ms = performance.now()
  }, 1)
  const { body } = await preview
  clearInterval(watch)
  expect(body.matching).toBe(100)
  expect(longest_ms).toBeLessThan(1_000)
})

test.each<[string, object, string]>([
  ['no end', { expires_at: undefined }, '/expires_at'],
  ['no matcher', { matchers: [] }, '/matchers'],
  ['an unknown field', { matchers: [{ field: 'user', value: 'x' }] }, '/matchers/0/field'],
  ['U+0000', { matchers: [{ field: 'labels.a', value: 'a\u0000' }] }, '/matchers/0/value'],
  ['half a character', { comment: '\ud83d' }, '/comment'],
  [
    'a window that ends before it begins',
    { windows: [{ from: '2026-11-24T00:00:00Z', to: '2026-11-23T00:00:00Z' }] },
    '/windows/0/to',
  ],
])('refuses %s', async (_what, change, pointer) => {
  const reply = await api.call('POST', path, project, { body: muteOf(change) })
  expect(codeOf(reply)).toEqual([400, 'invalid_request'])
  expect(reply.body.errors.map((each: Json) => each.pointer)).toContain(pointer)
})

test('a suppression of another project does not exist; only admins write', async () => {
  const { suppression_id } = await created()
  const other = await api.newProject()
  const one = `${path}/${suppression_id}`
  const calls = [
    await api.call('GET', one, other),
    await api.call('PUT', one, other, { body: muteOf() }),
    await api.call('DELETE', one, other),
    await api.call('GET', `${path}/1`, other),
  ]
  for (const call of calls) expect(codeOf(call)).toEqual([404, 'suppression_not_found'])
  const write = (headers: Record<string, string>) =>
    api.call('POST', path, project, { headers, body: muteOf() })
  expect(codeOf(await write(tokenOf('editor', project)))).toEqual([403, 'permission_denied'])
  expect((await write(keyOf(project, 'incidents:write'))).status).toBe(401)
  const read = await api.call('GET', path, project, { headers: keyOf(project, 'incidents:read') })
  expect(read.status).toBe(200)
})

test('a project has at most 200 suppressions, also under concurrent calls', async () => {
  const other = await api.newProject()
  const at = '2026-11-23T11:00:00.000Z'
  const times = { created_at: at, created_by: 'user:1', updated_at: at, updated_by: 'user:1' }
  const spec = JSON.stringify({ ...muteOf(), windows: [] })
  await api.db
    .insertInto('incident_suppressions')
    .values(
      Array.from({ length: 198 }, () => ({
        ...{ id: newId(), project_id: other, spec, version: 1, ...times },
      })),
    )
    .execute()
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => api.call('POST', path, other, { body: muteOf() })),
  )
  const codes = replies.map(({ status, body }) => body.code ?? status).toSorted()
  expect(codes).toEqual([201, 201, 'limit_reached', 'limit_reached', 'limit_reached'])
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyDueTimers } from '../../src/capabilities/incidents/worker/apply-timers.ts'
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

const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body?.code]
const move = (id: unknown, what: string, body?: object, about: object = {}) =>
  api.call('POST', `/${id}/${what}`, project, { ...(body && { body }), ...about })
const inMinutes = (minutes: number) => new Date(api.clock.ms + minutes * 60_000).toISOString()
const announced = { core: { notify: ['ops'], announced_to: ['ops'], opened_delivered: true } }

/** Applies the timers in some minutes, and returns the reasons of the messages since the snooze. */
async function messagesAfter(id: string, minutes: number): Promise<string[]> {
  api.clock.ms += minutes * 60_000
  await applyDueTimers(api.db, { now_ms: api.clock.ms, limit: 100 })
  const rows = await api.db
    .selectFrom('notification_outbox')
    .select(['reason', 'channel'])
    .where('incident_id', '=', id)
    .orderBy('event_seq')
    .execute()
  return rows.map(({ reason, channel }) => `${reason} ${channel}`)
}

describe('a snooze', () => {
  test('rests an incident until its time, and is announced then', async () => {
    const id = await api.insertIncident(project, announced)
    const until = inMinutes(120)
    const snoozed = await move(id, 'snooze', { for: '2h', note: 'after lunch' })
    expect([snoozed.status, snoozed.headers['etag'], snoozed.body]).toMatchObject([
      ...[200, '"2"', { snoozed_until: until, suppressed: true, suppressed_by: ['person'] }],
    ])
    expect(await messagesAfter(id, 119)).toEqual([])
    expect(await messagesAfter(id, 1)).toEqual(['still_firing ops'])
    expect(await messagesAfter(id, 1)).toEqual(['still_firing ops'])
    const { body } = await api.call('GET', `/${id}`, project)
    expect(body).toMatchObject({ snoozed_until: null, suppressed: false, state: 'open' })
    const events = body.timeline.events.map((one: Json) => [one.type, one.actor.type, one.note])
    expect(events).toEqual([
      ['snoozed', 'user', `until ${until}: after lunch`],
      ['still_firing', 'timer', null],
    ])
  })

  test('an acknowledged incident is silent at its end, and a resolve ends it', async () => {
    const acked = await api.insertIncident(project, announced)
    await move(acked, 'snooze', { for: '5m' })
    expect((await move(acked, 'ack')).body.snoozed_until).not.toBeNull()
    expect(await messagesAfter(acked, 6)).toEqual([])
    const resolved = await api.insertIncident(project, announced)
    await move(resolved, 'snooze', { for: '5m' })
    const { body } = await move(resolved, 'resolve')
    expect(body).toMatchObject({ state: 'resolved', snoozed_until: null, suppressed: false })
    expect(await messagesAfter(resolved, 6)).toEqual(['resolved ops'])
    expect(codeOf(await move(resolved, 'snooze', { for: '5m' }))).toEqual([
      ...[409, 'incident_state_conflict'],
    ])
  })

  test('a person ends it: the incident is announced; without a snooze nothing changes', async () => {
    const id = await api.insertIncident(project, announced)
    await move(id, 'snooze', { until: inMinutes(60) })
    const woken = await move(id, 'unsnooze', { note: 'too long' })
    expect(woken.body).toMatchObject({ snoozed_until: null, suppressed: false, version: 3 })
    expect((await move(id, 'unsnooze')).body).toEqual(woken.body)
    expect(await messagesAfter(id, 61)).toEqual(['still_firing ops'])
  })

  test('by number; the same time twice changes nothing, and another one replaces it', async () => {
    const id = await api.insertIncident(project)
    const { number } = (await api.call('GET', `/${id}`, project)).body
    const first = await move(number, 'snooze', { until: inMinutes(30) })
    expect((await move(number, 'snooze', { until: inMinutes(30) })).body).toEqual(first.body)
    const until = new Date(api.clock.ms + 40 * 60_000).toISOString().replace('Z', '+00:00')
    const longer = await move(number, 'snooze', { until })
    expect(longer.body).toMatchObject({ snoozed_until: inMinutes(40), version: 3 })
    const stale = await move(id, 'snooze', { for: '9m' }, { if_match: '"2"' })
    expect(codeOf(stale)).toEqual([412, 'precondition_failed'])
  })

  test.each<[string, () => object]>([
    ['nothing', () => ({})],
    ['both', () => ({ for: '1h', until: inMinutes(60) })],
    ['too short', () => ({ for: '4m' })],
    ['too long', () => ({ for: '169h' })],
    ['not a duration', () => ({ for: '-1h' })],
    ['the past', () => ({ until: inMinutes(-60) })],
    ['too near', () => ({ until: inMinutes(4) })],
    ['too far', () => ({ until: inMinutes(7 * 24 * 60 + 1) })],
    ['not a time', () => ({ until: 'tomorrow' })],
    ['another field', () => ({ for: '1h', by: 'me' })],
    ['text that cannot be stored', () => ({ for: '1h', note: 'a\u0000' })],
  ])('refuses %s', async (_, body) => {
    const id = await api.insertIncident(project)
    expect(codeOf(await move(id, 'snooze', body()))).toEqual([400, 'invalid_request'])
    expect((await api.call('GET', `/${id}`, project)).body.version).toBe(1)
  })

  test('editors and keys with `incidents:write`, of the project only', async () => {
    const id = await api.insertIncident(project)
    const as = (headers: Record<string, string>, what = 'snooze') =>
      move(id, what, what === 'snooze' ? { for: '1h' } : undefined, { headers })
    for (const what of ['snooze', 'unsnooze']) {
      for (const headers of [tokenOf('viewer', project), keyOf(project, 'incidents:read')]) {
        expect(codeOf(await as(headers, what))).toEqual([403, 'permission_denied'])
      }
      const other = await api.newProject()
      const foreign = await as(tokenOf('admin', other), what)
      expect(codeOf(foreign)).toEqual([404, 'incident_not_found'])
      expect((await as(keyOf(project, 'incidents:write'), what)).status).toBe(200)
      expect((await as(tokenOf('editor', project), what)).status).toBe(200)
    }
  })
})

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  correctTime,
  eventNameList,
  maskMetadata,
  maxEventAgeMs,
  skewToleratedMs,
} from '../../src/capabilities/onboarding/events/event.ts'
import {
  deleteOldEvents,
  maxEventsPerMinute,
} from '../../src/capabilities/onboarding/events/store.ts'
import { type OnboardingApi, openOnboardingApi } from '../support/onboarding-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: OnboardingApi
let project: string
beforeAll(async () => {
  api = await openOnboardingApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

async function newProject(): Promise<string> {
  project = await api.bench.newProject()
  return project
}

const post = (body: unknown, project_id = project, headers?: Record<string, string>) =>
  api.call('POST', '/events', { project_id, body, ...(headers && { headers }) })

const stored = (project_id = project) =>
  api.db.selectFrom('onboarding_events').selectAll().where('project_id', '=', project_id).execute()

const day_ms = 86_400_000
const iso = (ms: number) => new Date(ms).toISOString()

describe('posting', () => {
  test('a single event and a list are stored; a repetition stores nothing', async () => {
    await newProject()
    const occurred_at = iso(Date.now() - 5_000)
    const event = { event_id: 'e-1', name: 'installed', occurred_at, metadata: { version: '1.2' } }
    const first = await post(event)
    expect(first).toMatchObject({
      status: 201,
      body: {
        accepted: 1,
        replayed: 0,
        events: [
          {
            ...{ event_id: 'e-1', name: 'installed', occurred_at, clock: 'client', skew_ms: null },
            ...{
              subject: 'user:user-1',
              masked: [],
              metadata: { version: '1.2' },
              replayed: false,
            },
          },
        ],
      },
    })
    // The order of fields does not matter, and `sent_at` is of the request.
    const { metadata, ...rest } = event
    const again = { metadata, ...rest, sent_at: iso(Date.now()) }
    expect(await post(again)).toMatchObject({
      status: 200,
      body: { accepted: 0, replayed: 1, events: [{ replayed: true, clock: 'client' }] },
    })
    const list = { events: [event, { event_id: 'e-2', name: 'docs_opened' }] }
    expect(await post(list)).toMatchObject({ status: 201, body: { accepted: 1, replayed: 1 } })
    expect(await stored()).toHaveLength(2)
  })

  test('the same id twice in a list: one event if equal, else a conflict that stores nothing', async () => {
    await newProject()
    const event = { event_id: 'twice', name: 'installed' }
    expect(await post({ events: [event, event] })).toMatchObject({
      ...{ status: 201, body: { accepted: 1, replayed: 1 } },
    })
    const other = { event_id: 'new', name: 'installed' }
    const clash = { events: [other, { ...other, name: 'first_call' }] }
    expect(await post(clash)).toMatchObject({
      status: 409,
      body: { code: 'idempotency_conflict', errors: [{ pointer: '/events/1/event_id' }] },
    })
    expect(await stored()).toHaveLength(1)
  })

  test.each([
    ['another name', { name: 'first_call' }],
    ['another time', { occurred_at: '2026-01-01T00:00:00Z' }],
    ['another installation', { installation_id: 'cluster-b' }],
    ['other metadata', { metadata: { version: '2' } }],
  ])('the id of another event with %s is a conflict', async (_, change) => {
    await newProject()
    const event = { event_id: 'e', name: 'installed', installation_id: 'cluster-a' }
    expect((await post(event)).status).toBe(201)
    expect(await post({ ...event, ...change })).toMatchObject({ status: 409 })
    expect(await stored()).toMatchObject([{ name: 'installed', subject: 'installation:cluster-a' }])
  })

  test('ids belong to a project: another tenant’s id is free, and its events stay unseen', async () => {
    const mine = await newProject()
    const theirs = await api.bench.newProject()
    expect((await post({ event_id: 'e', name: 'installed' }, mine)).status).toBe(201)
    const other = await post({ event_id: 'e', name: 'first_call' }, theirs)
    expect(other).toMatchObject({ status: 201, body: { events: [{ name: 'first_call' }] } })
    expect(await stored(mine)).toMatchObject([{ name: 'installed' }])
  })

  test('side by side, an id is stored once', async () => {
    await newProject()
    const event = { event_id: 'race', name: 'installed' }
    const replies = await Promise.all(Array.from({ length: 12 }, () => post(event)))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array(11).fill(200), 201])
    const clash = await Promise.all(
      ['first_call', 'first_span'].map((name) => post({ event_id: 'clash', name })),
    )
    expect(clash.map(({ status }) => status).toSorted()).toEqual([201, 409])
    expect(await stored()).toHaveLength(2)
  })

  test('an editor, or a key with ingest:write; no viewer, no other key', async () => {
    await newProject()
    const event = (event_id: string) => ({ event_id, name: 'installed' })
    const statuses = [
      await post(event('1'), project, keyOf(project, 'ingest:write')),
      await post(event('2'), project, keyOf(project, 'tasks:read')),
      await post(event('3'), project, tokenOf('viewer', project)),
      await post(event('4'), project, {}),
    ].map(({ status }) => status)
    expect(statuses).toEqual([201, 403, 403, 401])
  })
})

describe('refused, with a pointer', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, at]))
  const e = { event_id: 'e', name: 'installed' }
  test.each<[string, unknown, string]>([
    ['no body', undefined, ''],
    ['a list', [e], ''],
    ['an unknown name', { ...e, name: 'first_kiss' }, '/name'],
    ['a name of a prototype', { ...e, name: 'constructor' }, '/name'],
    ['no id', { name: 'installed' }, '/event_id'],
    ['an id with spaces', { ...e, event_id: 'a b' }, '/event_id'],
    ['a long id', { ...e, event_id: 'x'.repeat(129) }, '/event_id'],
    [
      'a key as id',
      { ...e, event_id: 'lt_abcdEF12_abcdefghijklmnopqrstuvwxyz012345' },
      '/event_id',
    ],
    ['an e-mail as installation', { ...e, installation_id: 'ada@example.com' }, '/installation_id'],
    ['a time that is none', { ...e, occurred_at: 'yesterday' }, '/occurred_at'],
    ['a time before 1970', { ...e, occurred_at: '1969-12-31T23:59:59Z' }, '/occurred_at'],
    ['a time after 2261', { ...e, occurred_at: '9999-01-01T00:00:00Z' }, '/occurred_at'],
    ['sent_at that is none', { events: [e], sent_at: 5 }, '/sent_at'],
    ['an unknown field', { ...e, color: 'red' }, '/color'],
    ['an unknown field in a list', { events: [{ ...e, color: 'red' }] }, '/events/0/color'],
    ['an empty list', { events: [] }, '/events'],
    ['101 events', { events: Array.from({ length: 101 }, () => e) }, '/events'],
    ['17 values', { ...e, metadata: many(17) }, '/metadata'],
    ['a nested value', { ...e, metadata: { a: { b: 1 } } }, '/metadata/a'],
    ['a long value', { ...e, metadata: { a: 'x'.repeat(257) } }, '/metadata/a'],
    ['a name of a value with capitals', { ...e, metadata: { A: 1 } }, '/metadata/A'],
    ['U+0000', { ...e, metadata: { a: 'a\u0000b' } }, '/metadata/a'],
    ['half of a surrogate pair', { ...e, metadata: { a: '\ud800' } }, '/metadata/a'],
  ])('%s', async (_, body, pointer) => {
    await newProject()
    const refused = await post(body)
    expect(refused).toMatchObject({ status: 400 })
    if (body !== undefined) {
      const pointers = refused.body.errors.map((one: { pointer: string }) => one.pointer)
      expect(pointers.some((one: string) => one.endsWith(pointer))).toBe(true)
    }
    expect(JSON.stringify(refused.body)).not.toContain('lt_abcdEF12')
    expect(await stored()).toEqual([])
  })
})

describe('floods', () => {
  test('a project posts a bounded number of events per minute; repetitions are free', async () => {
    await newProject()
    const other = await api.bench.newProject()
    const batch = (at: number) => ({
      events: Array.from({ length: 100 }, (_, n) => ({
        ...{ event_id: `${at}-${n}`, name: 'docs_opened' },
      })),
    })
    const replies = await Promise.all(Array.from({ length: 14 }, (_, at) => post(batch(at))))
    const refused = replies.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(14 - maxEventsPerMinute / 100)
    expect(refused[0]?.headers['retry-after']).toBe('60')
    expect(await stored()).toHaveLength(maxEventsPerMinute)
    const kept = replies.findIndex(({ status }) => status === 201)
    expect((await post(batch(kept))).status).toBe(200)
    expect((await post(batch(99), other)).status).toBe(201)
    api.clock.ahead_ms = 61_000
    expect((await post(batch(100))).status).toBe(201)
    api.clock.ahead_ms = 0
  })

  test('old events are deleted', async () => {
    await newProject()
    api.clock.ahead_ms = -401 * day_ms
    await post({ event_id: 'old', name: 'installed' })
    api.clock.ahead_ms = -399 * day_ms
    await post({ event_id: 'kept', name: 'installed' })
    api.clock.ahead_ms = 0
    await deleteOldEvents(api.db, Date.now())
    expect((await stored()).map(({ event_id }) => event_id)).toEqual(['kept'])
  })
})

describe('skewed clocks', () => {
  test.each([
    ['ten days behind', -10],
    ['three days ahead', 3],
    ['twenty years behind', -20 * 365],
  ])('a clock that is %s is corrected by the time of sending', async (_, days) => {
    await newProject()
    const skew_ms = days * day_ms
    const true_ms = Date.now() - 60_000
    const reply = await post({
      ...{ event_id: randomUUID(), name: 'first_call', occurred_at: iso(true_ms + skew_ms) },
      sent_at: iso(Date.now() + skew_ms),
    })
    expect(reply).toMatchObject({ status: 201, body: { events: [{ clock: 'corrected' }] } })
    const [event] = reply.body.events
    expect(Math.abs(Date.parse(event.occurred_at) - true_ms)).toBeLessThan(5_000)
    expect(Math.abs(event.skew_ms + skew_ms)).toBeLessThan(5_000)
    const [row] = await stored()
    expect(row?.client_at).toBe(iso(true_ms + skew_ms))
  })

  test('without a time of sending, a time ahead is replaced by that of the receipt', async () => {
    await newProject()
    const body = { event_id: 'e', name: 'first_call', occurred_at: iso(Date.now() + 5 * day_ms) }
    const { status, body: reply } = await post(body)
    const [event] = reply.events
    expect([status, event.clock, event.occurred_at]).toEqual([201, 'server', event.received_at])
  })

  test('the corrected time is never after the receipt, nor older than the bound', () => {
    const time = fc.option(fc.integer({ min: 0, max: 9_000_000_000_000 }), { nil: undefined })
    fc.assert(
      fc.property(time, time, fc.integer({ min: 0, max: 4e12 }), (occurred, sent, received) => {
        const corrected = correctTime({
          ...{ occurred_at_ms: occurred, sent_at_ms: sent, received_at_ms: received },
        })
        const age_ms = received - corrected.occurred_at_ms
        expect(age_ms).toBeGreaterThanOrEqual(0)
        expect(age_ms).toBeLessThanOrEqual(maxEventAgeMs)
        if (occurred === undefined) expect(corrected.clock).toBe('server')
        if (corrected.clock === 'corrected') {
          expect(Math.abs(corrected.skew_ms ?? 0)).toBeGreaterThan(skewToleratedMs)
        }
      }),
    )
  })

  test('any skew of a clock gives the true time of an event of the last day', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e12, max: 1e12 }),
        fc.integer({ min: 0, max: day_ms }),
        (skew_ms, age_ms) => {
          const received_at_ms = 2e12
          const { occurred_at_ms } = correctTime({
            occurred_at_ms: received_at_ms - age_ms + skew_ms,
            sent_at_ms: received_at_ms + skew_ms,
            received_at_ms,
          })
          const error_ms = Math.abs(received_at_ms - age_ms - occurred_at_ms)
          expect(error_ms).toBeLessThanOrEqual(skewToleratedMs)
        },
      ),
    )
  })
})

describe('metadata', () => {
  const secrets = {
    text: 'it uses lt_abcdEF12_abcdefghijklmnopqrstuvwxyz012345 here',
    provider: 'sk-proj-abcdefghijklmnop1234',
    header: 'Bearer abcdefgh12345678',
    jwt: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    address: 'https://user:hunter2@example.com/',
    mail: 'ada@example.com',
    cloud: 'AKIAIOSFODNN7EXAMPLE',
    opaque: 'a8f5f167f44f4964e6c998dee827110c9zzz',
    password: 'short',
    api_key: 'brief',
  }

  test('values that may be secrets are masked before they are stored', async () => {
    await newProject()
    const names = Object.keys(secrets)
    const reply = await post({
      event_id: 'e',
      ...{ name: 'installed', metadata: { ...secrets, version: '1.4.2-rc1', nodes: 3 } },
    })
    expect(reply.body.events[0].masked).toEqual(names.toSorted())
    const [row] = await stored()
    const text = JSON.stringify(row?.metadata)
    for (const value of Object.values(secrets)) expect(text).not.toContain(value)
    expect(row?.metadata).toMatchObject({ version: '1.4.2-rc1', nodes: 3, password: '[masked]' })
  })

  test('harmless values stay', () => {
    const harmless = {
      version: 'v1.28.3+k3s1',
      cluster: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
      page: 'https://docs.example.com/guides/first-trace',
      os: 'linux/amd64',
      took_ms: 1234.5,
      ready: true,
    }
    expect(maskMetadata(harmless)).toEqual({ metadata: harmless, masked: [] })
  })

  test('the list of names is closed, and each name has a meaning', () => {
    expect(eventNameList.length).toBeLessThan(30)
    expect(eventNameList).toContain('first_incident_rule')
  })
})

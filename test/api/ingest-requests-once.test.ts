import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  deleteExpiredIngestRequests,
  markProcessing,
  settleRequests,
} from '../../src/capabilities/edge/batches/index.ts'
import { sleep } from '../../src/kernel/time.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { event, observation, trace } from '../support/canonical-records.ts'
import { eventually } from '../support/eventually.ts'
import { type IngestRequestApi, openIngestRequestApi } from '../support/ingest-request-api.ts'
import { testPostgres } from '../support/postgres.ts'
import { keyOf } from '../support/task-api.ts'

let url: string
let api: IngestRequestApi
beforeAll(async () => {
  url = await testPostgres()
  api = await openIngestRequestApi(url, { settings: { wait_ms_max: 3000 } })
})
afterAll(() => api[Symbol.asyncDispose]())
beforeEach(() => {
  for (const list of [api.enqueued, api.published, api.accepted]) list.splice(0)
  api.onPublish = async () => undefined
})

const keyed = (more: Record<string, unknown> = {}) => ({
  idempotency_key: randomUUID(),
  observations: [observation()],
  ...more,
})
const path = (id: unknown) => `/api/v2/observability/ingest/${id}`
const recordOf = async (id: unknown) => (await api.get(path(id))).body
const idOf = ({ body }: { body: Record<string, unknown> }) => String(body['ingest_request_id'])
const published = (index = 0) => {
  const message = api.published[index]
  if (message === undefined) throw new Error(`message ${index} was not published`)
  return message
}

/** A batch of several messages: contents that do not fit into one frame. */
const large = (messages: number) =>
  keyed({
    observations: Array.from({ length: messages }, (_, n) =>
      observation({ observation_id: `o-${n}`, input: `${n}`.repeat(100_000) }),
    ),
  })

describe('the same key', () => {
  test('with the same batch returns the first record, with one more hit, and enqueues nothing', async () => {
    const batch = keyed()
    const first = await api.post(batch)
    await sleep(5)
    const second = await api.post(batch)
    const third = await api.post(batch)
    expect([second.status, third.status]).toEqual([202, 202])
    expect(second.headers['x-ingest-request-id']).toBe(idOf(first))
    expect(second.body).toEqual({
      ...first.body,
      replayed_hits: 1,
      last_seen_at: second.body['last_seen_at'],
    })
    expect(String(second.body['last_seen_at']) > String(first.body['last_seen_at'])).toBe(true)
    expect(third.body['replayed_hits']).toBe(2)
    expect([api.enqueued.length, api.published.length]).toEqual([1, 1])
  })

  test('is not enqueued again, however old the first request is', async () => {
    const batch = keyed()
    const id = idOf(await api.post(batch))
    await api.db
      .updateTable('ingest_requests')
      .set({ claimed_at: sql<string>`now() - interval '6 days'` })
      .where('ingest_request_id', '=', id)
      .execute()
    expect((await api.post(batch)).body).toMatchObject({ ingest_request_id: id, replayed_hits: 1 })
    expect(api.enqueued).toHaveLength(1)
  })

  test('compares values, not their spelling', async () => {
    const key = randomUUID()
    const spelt = (text: string) => api.post(text.replace('KEY', key))
    const id = '"trace_id":"0af7651916cd43dd8448eb211c80319c","observation_id":"o"'
    const first = await spelt(
      `{"idempotency_key":"KEY","observations":[{${id},"start_time":"2026-03-01T12:00:00Z","status_code":200,"name":"é"}]}`,
    )
    const second = await spelt(
      `{ "observations":[ {"name":"\\u00e9", "status_code":2.00e2,
         "start_time":"2026-03-01T12:00:00Z",${id}}], "traces":[], "idempotency_key":"KEY",
         "schema_version":"2026-02-23" }`,
    )
    expect([second.status, idOf(second)]).toEqual([202, idOf(first)])
  })

  test('compares the body and no header: a retry has its own traceparent', async () => {
    const batch = keyed()
    const posted = async (span: string) => {
      const traceparent = `00-0af7651916cd43dd8448eb211c80319c-${span}-01`
      const headers = { ...keyOf(api.project_id, 'ingest:write'), traceparent }
      return idOf(await api.post(batch, { headers }))
    }
    expect(await posted('b7ad6b7169203331')).toBe(await posted('00f067aa0ba902b7'))
    expect(api.enqueued).toHaveLength(1)
  })

  test.each([
    ['a value', { observations: [observation({ name: 'b' })] }],
    ['a type', { observations: [observation({ status_code: '0' })] }],
    ['a record more', { observations: [observation({ name: 'a' }), observation({ name: 'a' })] }],
    ['another list', { events: [observation({ name: 'a' })] }],
    ['a context', { observations: [observation({ name: 'a' })], baggage: 'k=v' }],
    ['a border between texts', { observations: [observation({ name: 'a"1:b' })] }],
  ])('with %s that differs is a conflict', async (_name, more) => {
    const batch = keyed({ observations: [observation({ name: 'a' })] })
    const taken = await api.post(batch)
    expect(taken.status).toBe(202)
    const other = await api.post({ idempotency_key: batch.idempotency_key, ...more })
    expect([other.status, other.body['code']]).toEqual([409, 'idempotency_conflict'])
    expect(other.headers['x-ingest-request-id']).toBe(idOf(taken))
    expect(api.enqueued).toHaveLength(1)
    expect((await api.post(batch)).body['replayed_hits']).toBe(1)
  })

  test('posted many times at once is enqueued once, and no answer comes before it is durable', async () => {
    let open: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    api.onPublish = () => gate
    const batch = keyed()
    let answered = 0
    const posts = Array.from({ length: 12 }, () =>
      api.post(batch).finally(() => {
        answered += 1
      }),
    )
    await eventually('one is published', () => api.enqueued.length > 0)
    await sleep(150)
    expect(answered).toBe(0)
    open()
    const replies = await Promise.all(posts)
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(replies.map(idOf)).size).toBe(1)
    expect([api.enqueued.length, api.published.length]).toEqual([1, 1])
    expect((await recordOf(idOf(replies[0] ?? { body: {} })))['replayed_hits']).toBe(11)
  })

  test('that another call holds for too long is answered 503, not with a claim', async () => {
    await using slow = await openIngestRequestApi(url, { settings: { claim_wait_ms_max: 50 } })
    let open: () => void = () => undefined
    slow.onPublish = () =>
      new Promise<void>((resolve) => {
        open = resolve
      })
    const batch = keyed()
    const first = slow.post(batch)
    await eventually('the first is published', () => slow.enqueued.length > 0)
    const second = await slow.post(batch)
    expect([second.status, second.body['code']]).toEqual([503, 'overloaded'])
    expect(second.headers['retry-after']).toBe('1')
    open()
    const taken = await first
    expect(taken.status).toBe(202)
    expect(second.headers['x-ingest-request-id']).toBe(idOf(taken))
  })
})

describe('when publishing fails', () => {
  test('the queue refuses: 503, and a retry is accepted at once under the same ids', async () => {
    const batch = large(4)
    let publishes = 0
    api.onPublish = async () => {
      publishes += 1
      if (publishes > 1) throw new Error('the queue is away')
    }
    const refused = await api.post(batch)
    expect([refused.status, refused.body['code']]).toEqual([503, 'overloaded'])
    expect(refused.headers).toHaveProperty('retry-after')
    expect(api.published.length).toBeGreaterThan(0)
    const durable = api.published.map(({ id }) => id)
    const id = api.enqueued[0]?.ingest_request_id
    expect(refused.headers['x-ingest-request-id']).toBe(id)
    expect((await api.get(path(id))).status).toBe(404)
    api.onPublish = async () => undefined
    const retried = await api.post(batch)
    expect([retried.status, idOf(retried)]).toEqual([202, id])
    expect(retried.body).toMatchObject({ status: 'queued', replayed_hits: 1 })
    const again = api.published.slice(durable.length).map((message) => message.id)
    expect(again.length).toBeGreaterThan(durable.length)
    expect(again).toEqual(expect.arrayContaining(durable))
    expect(api.enqueued[1]).toEqual(api.enqueued[0])
  })

  test('a process that died in between: a repeat takes over after 30 s, no sooner', async () => {
    const batch = keyed({ traces: [trace()], observations: [observation()] })
    const id = idOf(await api.post(batch))
    const died = (seconds: number) =>
      api.db
        .updateTable('ingest_requests')
        .set({ messages_total: null, claim_id: randomUUID() })
        .set({ claimed_at: sql<string>`now() - ${seconds} * interval '1 second'` })
        .where('ingest_request_id', '=', id)
        .execute()
    await died(29)
    await using other = await openIngestRequestApi(url, { settings: { claim_wait_ms_max: 100 } })
    const headers = keyOf(api.project_id, 'ingest:write') as Record<string, string>
    expect((await other.post(batch, { headers })).status).toBe(503)
    expect((await other.post({ ...batch, traces: [] }, { headers })).status).toBe(409)
    await died(31)
    expect((await other.post({ ...batch, traces: [] }, { headers })).status).toBe(409)
    expect(other.enqueued).toEqual([])
    const taken = await other.post(batch, { headers })
    expect([taken.status, idOf(taken)]).toEqual([202, id])
    expect(other.published.map((message) => message.id)).toEqual([published().id])
    expect(other.enqueued).toEqual(api.enqueued)
  })

  test('an owner that comes back late neither frees nor changes the taken-over request', async () => {
    await using late = await openIngestRequestApi(url, { settings: { take_over_after_ms: 50 } })
    const releases: ((error?: Error) => void)[] = []
    late.onPublish = () =>
      new Promise((resolve, reject) => {
        releases.push((error) => (error ? reject(error) : resolve()))
      })
    const batch = keyed()
    const first = late.post(batch)
    await eventually('the first publishes', () => releases.length === 1)
    await sleep(80)
    const second = late.post(batch)
    await eventually('the second has taken over', () => releases.length === 2)
    releases[0]?.(new Error('too late'))
    expect((await first).status).toBe(503)
    const { claimed_at } = await late.db
      .selectFrom('ingest_requests')
      .select('claimed_at')
      .where('idempotency_key', '=', batch.idempotency_key)
      .executeTakeFirstOrThrow()
    expect(claimed_at).not.toBeNull()
    releases[1]?.()
    expect((await second).status).toBe(202)
    expect(new Set(late.enqueued.map((request) => request.ingest_request_id)).size).toBe(1)
  })

  test('more records than allowed in flight: 503, and the next request is accepted', async () => {
    await using small = await openIngestRequestApi(url, { settings: { items_in_flight_max: 2 } })
    let open: () => void = () => undefined
    small.onPublish = () =>
      new Promise<void>((resolve) => {
        open = resolve
      })
    const first = small.post(keyed({ traces: [trace()] }))
    await eventually('the first is published', () => small.enqueued.length > 0)
    expect((await small.post(keyed())).body['code']).toBe('overloaded')
    open()
    expect((await first).status).toBe(202)
    small.onPublish = async () => undefined
    expect((await small.post(keyed({ traces: [trace(), trace(), trace()] }))).status).toBe(202)
  })
})

describe('the end of a request', () => {
  const settle = (...entries: LedgerEntry[]) => settleRequests(api.db, entries)
  const dead = {
    stored: 0,
    rejected: { dead_letter: 2 },
    records: { traces: 0, observations: 0, events: 0, links: 0, correlations: 0 },
    error_reason: 'the store can not read it',
    attempts: 5,
  }

  test('stored whole, it has succeeded with its counts', async () => {
    const batch = keyed({ traces: [trace()], events: [event(), event()] })
    const id = idOf(await api.post(batch))
    await settle(api.settled(published(), { attempts: 2 }))
    expect(await recordOf(id)).toMatchObject({
      status: 'succeeded',
      attempts: 2,
      error_reason: null,
      result_payload: { traces: 1, observations: 1, events: 2, links: 0, rejected: 0 },
    })
  })

  test('message by message: queued, processing, succeeded, also if messages settle again', async () => {
    const id = idOf(await api.post(large(4)))
    const total = api.published.length
    expect(total).toBeGreaterThan(2)
    expect((await recordOf(id))['status']).toBe('queued')
    for (let n = 0; n < total; n += 1) {
      expect((await recordOf(id))['status']).toBe(n === 0 ? 'queued' : 'processing')
      const entry = api.settled(published(n))
      await settle(entry, entry)
      await Promise.all([settle(entry), settle(entry), settle({ ...entry, attempts: 2 })])
    }
    expect(await recordOf(id)).toMatchObject({
      status: 'succeeded',
      result_payload: { observations: 4 },
    })
  })

  test('received by a worker, it is processing', async () => {
    const id = idOf(await api.post(keyed()))
    await markProcessing(api.db, [])
    await markProcessing(api.db, [id, randomUUID()])
    expect((await recordOf(id))['status']).toBe('processing')
  })

  test('partly refused, it has succeeded and lists the refusals', async () => {
    const batch = keyed({ observations: [observation(), observation({ type: 'dream' })] })
    const id = idOf(await api.post({ ...batch, traces: [trace()] }))
    const refused = { stored: 1, rejected: { refused_by_store: 1 }, error_reason: 'bad row' }
    await settle(api.settled(published(), refused))
    const { status, error_reason, result_payload } = await recordOf(id)
    expect(status).toBe('succeeded')
    expect(error_reason).toMatch(/^1 are not valid, first \/observations\/1\/type: .*; bad row$/)
    expect(result_payload).toMatchObject({
      rejected: 2,
      errors: [{ pointer: '/observations/1/type' }],
    })
  })

  test('refused whole by the store, it has failed', async () => {
    const id = idOf(await api.post(keyed()))
    const refused = { stored: 0, rejected: { refused_by_store: 1 }, error_reason: 'bad row' }
    await settle(api.settled(published(), refused))
    expect(await recordOf(id)).toMatchObject({ status: 'failed', error_reason: 'bad row' })
  })

  test('a dead letter fails it, its replay makes it succeed, and an old entry changes nothing', async () => {
    const id = idOf(await api.post(keyed({ traces: [trace()] })))
    const failed = api.settled(published(), { ...dead, settled_at_ms: Date.now() - 1000 })
    await settle(failed)
    expect(await recordOf(id)).toMatchObject({
      status: 'failed',
      attempts: 5,
      error_reason: 'the store can not read it',
      result_payload: { observations: 0, rejected: 2 },
    })
    await settle(api.settled(published()))
    await settle(failed)
    expect(await recordOf(id)).toMatchObject({
      status: 'succeeded',
      error_reason: null,
      result_payload: { traces: 1, observations: 1, rejected: 0 },
    })
  })

  test('one dead letter among stored messages fails it', async () => {
    const id = idOf(await api.post(large(4)))
    const [first, ...rest] = api.published
    await settle(api.settled(first ?? published(), { ...dead, rejected: { dead_letter: 1 } }))
    await settle(...rest.map((message) => api.settled(message)))
    expect(await recordOf(id)).toMatchObject({ status: 'failed', result_payload: { rejected: 1 } })
  })

  test('may be settled before the edge has recorded that it is durable', async () => {
    const batch = keyed()
    api.onPublish = async () => {
      const id = api.enqueued[0]?.ingest_request_id ?? ''
      await settle(early(id))
    }
    const early = (ingest_request_id: string): LedgerEntry => ({
      ...dead,
      project_id: api.project_id,
      ingest_request_id,
      message_id: 'early',
      side: 'settled',
      path: 'api',
      received_at_ms: 0,
      items: 1,
      stored: 1,
      rejected: {},
      lost: {},
      masked: 0,
      settled_at_ms: Date.now(),
      error_reason: '',
    })
    expect((await api.post(batch)).body['status']).toBe('succeeded')
  })

  test('other entries change nothing: path, side, project, request, no message', async () => {
    const id = idOf(await api.post(keyed()))
    const entry = api.settled(published())
    await settle()
    await settle(
      { ...entry, path: 'otlp' },
      { ...entry, side: 'accepted' },
      { ...entry, message_id: '' },
      { ...entry, project_id: randomUUID() },
      { ...entry, ingest_request_id: randomUUID() },
    )
    expect((await recordOf(id))['status']).toBe('queued')
  })

  test('concurrent calls that settle the same messages in another order do not block each other', async () => {
    const entries: LedgerEntry[] = []
    for (let n = 0; n < 20; n += 1) {
      await api.post(keyed())
      entries.push(api.settled(published(n)))
    }
    const orders = Array.from({ length: 8 }, (_, n) =>
      n % 2 === 0 ? entries : entries.toReversed(),
    )
    await Promise.all(orders.map((order) => settle(...order)))
    for (const { ingest_request_id } of entries) {
      expect((await recordOf(ingest_request_id))['status']).toBe('succeeded')
    }
  })
})

describe('?wait=true', () => {
  test('answers when the request has ended', async () => {
    const reply = api.post(keyed(), { query: '?wait=true' })
    await eventually('it is published', () => api.published.length > 0)
    await sleep(60)
    await settleRequests(api.db, [api.settled(published())])
    expect(await reply).toMatchObject({ status: 202, body: { status: 'succeeded' } })
  })

  test('answers with the current state when the time is over', async () => {
    await using own = await openIngestRequestApi(url, { settings: { wait_ms_max: 60 } })
    const reply = await own.post(keyed(), { query: '?wait=true' })
    expect([reply.status, reply.body['status']]).toEqual([202, 'queued'])
  })

  test('does not wait when too many requests already wait', async () => {
    await using own = await openIngestRequestApi(url, {
      settings: { waiters_max: 1, wait_ms_max: 60_000 },
    })
    const waiting = own.post(keyed(), { query: '?wait=true' })
    await eventually('it is published', () => own.published.length > 0)
    await sleep(60)
    const second = await own.post(keyed(), { query: '?wait=true' })
    expect(second.body['status']).toBe('queued')
    await settleRequests(
      own.db,
      own.published.map((message) => own.settled(message)),
    )
    expect((await waiting).body['status']).toBe('succeeded')
  })

  test('accepts only true and false', async () => {
    expect((await api.post(keyed(), { query: '?wait=false' })).status).toBe(202)
    expect((await api.post(keyed(), { query: '?wait=1' })).body['code']).toBe('invalid_request')
  })
})

describe('GET /api/v2/observability/ingest/{ingest_request_id}', () => {
  test('an invalid UUID is refused, a missing request is not found', async () => {
    expect((await api.get(path('x'))).body['code']).toBe('invalid_request')
    const missing = await api.get(path(randomUUID()))
    expect([missing.status, missing.body['code']]).toEqual([404, 'ingest_request_not_found'])
  })

  test('names the request in its header, and accepts upper case too', async () => {
    const id = idOf(await api.post(keyed()))
    const reply = await api.get(path(id.toUpperCase()))
    expect([reply.status, reply.headers['x-ingest-request-id']]).toEqual([200, id])
  })

  test('a request of another ingest path is read from the ledger', async () => {
    const id = randomUUID()
    const received_at_ms = Date.UTC(2026, 2, 1)
    const none = { traces: 0, observations: 0, events: 0, links: 0, correlations: 0 }
    const entry: LedgerEntry = {
      project_id: api.project_id,
      ingest_request_id: id,
      message_id: 'm-1',
      side: 'accepted',
      path: 'otlp',
      received_at_ms,
      items: 3,
      stored: 0,
      rejected: {},
      lost: {},
      masked: 0,
      records: none,
      attempts: 0,
      settled_at_ms: 0,
      error_reason: '',
    }
    const shown = async (...entries: Partial<LedgerEntry>[]) => {
      api.receipts.set(
        `${api.project_id} ${id}`,
        entries.map((more) => ({ ...entry, ...more })),
      )
      return recordOf(id)
    }
    const settled: Partial<LedgerEntry> = {
      side: 'settled',
      stored: 3,
      attempts: 1,
      records: { ...none, observations: 3, events: 2 },
    }
    expect(await shown({})).toEqual({
      ingest_request_id: id,
      idempotency_key: '',
      schema_version: '2026-02-23',
      status: 'queued',
      attempts: 0,
      first_seen_at: '2026-03-01T00:00:00.000Z',
      last_seen_at: '2026-03-01T00:00:00.000Z',
      replayed_hits: 0,
      error_reason: null,
      result_payload: { ...none, rejected: 0, errors: [], errors_left_out: 0 },
    })
    expect((await shown(settled, { message_id: 'm-2' }))['status']).toBe('processing')
    const edge = { message_id: '', items: 1, rejected: { invalid_span_id: 1 } }
    expect(await shown(settled, edge)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      error_reason: 'invalid_span_id',
      result_payload: { observations: 3, events: 2, rejected: 1 },
    })
    expect((await shown(edge))['status']).toBe('failed')
    const sampled = { ...edge, rejected: { sampled: 1 } }
    expect((await shown(sampled))['status']).toBe('succeeded')
    const letter = { side: 'settled', rejected: { dead_letter: 3 }, error_reason: 'no' } as const
    expect((await shown(settled, { message_id: 'm-2', ...letter }))['status']).toBe('failed')
  })
})

test('requests of more than 7 days are deleted, with their messages; younger ones stay', async () => {
  const old = idOf(await api.post(keyed()))
  await settleRequests(api.db, [api.settled(published())])
  const young = idOf(await api.post(keyed()))
  const age = async (id: string, interval: string) =>
    api.db
      .updateTable('ingest_requests')
      .set({ first_seen_at: sql<string>`now() - ${interval}::interval` })
      .where('ingest_request_id', '=', id)
      .execute()
  await age(old, '7 days 1 minute')
  await age(young, '6 days 23 hours')
  expect(await deleteExpiredIngestRequests(api.db)).toBe(1)
  expect((await api.get(path(old))).status).toBe(404)
  expect((await api.get(path(young))).status).toBe(200)
  const left = await api.db
    .selectFrom('ingest_request_messages')
    .select('message_id')
    .where('ingest_request_id', '=', old)
    .execute()
  expect(left).toEqual([])
})

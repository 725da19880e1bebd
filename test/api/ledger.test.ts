import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import { QueueUnavailable } from '../../src/platform/queue/index.ts'
import { emptyQueue, openRecordApi, type RecordApi, recordsNowMs } from '../support/record-api.ts'
import { entryOf } from '../support/records.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: RecordApi
beforeAll(async () => {
  api = await openRecordApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const url = '/api/v2/observability/ledger'
const hour_ms = 3_600_000

let project_id: string
let key: Record<string, string>
beforeEach(() => {
  project_id = newId()
  key = keyOf(project_id, 'traces:read')
  api.stats = async () => emptyQueue
  // Entries have the real time, so the routes need a later time to call them old.
  api.now_ms = Date.now() + hour_ms
})

const insert = (...entries: Partial<LedgerEntry>[]) =>
  api.ledger.insertEntries(
    entries.map((entry) => entryOf({ project_id, received_at_ms: Date.now(), ...entry })),
    { token: newId() },
  )
const zeros = { requests: 0, accepted: 0, stored: 0, rejected: 0, pending: 0, lost: 0, masked: 0 }
const noReasons = { rejected_by_reason: [], lost_by_reason: [] }

test('a project that sent nothing has zeros', async () => {
  const { status, body } = await api.get(url, key)
  expect(status).toBe(200)
  expect(body).toEqual({
    window: {
      from: new Date(api.now_ms + 1 - 24 * hour_ms).toISOString(),
      to: new Date(api.now_ms + 1).toISOString(),
    },
    totals: zeros,
    paths: ['proxy', 'otlp', 'api'].map((path) => ({ path, ...zeros, ...noReasons })),
    queue: { reachable: true, pending_messages: 0, oldest_pending_at: null },
    as_of: new Date(api.now_ms).toISOString(),
  })
})

test('items add up by path and reason, and a redelivery changes nothing', async () => {
  const ingest_request_id = newId()
  const entries: Partial<LedgerEntry>[] = [
    { ingest_request_id, masked: 1 },
    { ingest_request_id, message_id: '', items: 5, rejected: { sampled: 2, invalid_trace_id: 3 } },
    {
      ingest_request_id,
      side: 'settled',
      stored: 8,
      rejected: { refused_by_store: 2 },
      masked: 1,
    },
    { path: 'proxy', items: 1, message_id: '', lost: { spool_full: 1 } },
    { path: 'proxy', items: 1, stored: 1, side: 'settled' },
  ]
  const received_at_ms = Date.now()
  const all = entries.map((entry) => ({ ingest_request_id: newId(), ...entry, received_at_ms }))
  await insert(...all)
  const first = await api.get(url, key)
  expect(first.body).toMatchObject({
    totals: { requests: 3, accepted: 17, stored: 9, rejected: 7, pending: 0, lost: 1, masked: 1 },
    paths: [
      {
        path: 'proxy',
        accepted: 2,
        stored: 1,
        lost: 1,
        lost_by_reason: [{ reason: 'spool_full', items: 1 }],
      },
      {
        path: 'otlp',
        requests: 1,
        accepted: 15,
        stored: 8,
        rejected: 7,
        rejected_by_reason: [
          { reason: 'invalid_trace_id', items: 3 },
          { reason: 'refused_by_store', items: 2 },
          { reason: 'sampled', items: 2 },
        ],
      },
      { path: 'api', ...zeros },
    ],
  })
  await insert(...all, ...all)
  expect((await api.get(url, key)).body).toEqual(first.body)
})

describe('unsettled items', () => {
  test('are pending while the queue may hold them, and lost afterwards', async () => {
    await insert({})
    const written_ms = Date.now()
    api.stats = async () => ({ ...emptyQueue, pending: 3, oldest_age_ms: hour_ms + 60_000 })
    const pending = await api.get(url, key)
    expect(pending.body).toMatchObject({
      totals: { accepted: 10, pending: 10, lost: 0 },
      queue: {
        reachable: true,
        pending_messages: 3,
        oldest_pending_at: new Date(api.now_ms - hour_ms - 60_000).toISOString(),
      },
    })
    // The oldest message was queued two minutes after the entry; one minute is the margin.
    api.stats = async () => ({
      ...emptyQueue,
      pending: 3,
      oldest_age_ms: api.now_ms - written_ms - 120_000,
    })
    const lost = await api.get(url, key)
    expect(lost.body['totals']).toMatchObject({ accepted: 10, pending: 0, lost: 10 })
    expect(lost.body['paths']).toMatchObject([
      {},
      { lost_by_reason: [{ reason: 'not_settled', items: 10 }] },
      {},
    ])
    const again = await api.get(`${url}?reason=not_settled`, key)
    expect(again.body['totals']).toMatchObject({ accepted: 10, lost: 10 })
  })

  test('are pending right after their arrival, although the queue is empty', async () => {
    await insert({})
    api.now_ms = Date.now() + 1000
    expect((await api.get(url, key)).body['totals']).toMatchObject({ pending: 10, lost: 0 })
  })

  test('are pending while the queue cannot be asked', async () => {
    await insert({})
    api.stats = async () => {
      throw new QueueUnavailable('no connection')
    }
    const { status, body } = await api.get(url, key)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      totals: { pending: 10, lost: 0 },
      queue: { reachable: false, pending_messages: null, oldest_pending_at: null },
    })
  })
})

test('a window, a path and a reason narrow it', async () => {
  const rejected = { sampled: 1 }
  await insert(
    { message_id: '', items: 1, rejected, received_at_ms: recordsNowMs },
    { path: 'api', side: 'settled', received_at_ms: recordsNowMs + hour_ms },
  )
  const from = `from=${new Date(recordsNowMs).toISOString()}`
  const until = (ms: number) => `to=${new Date(recordsNowMs + ms).toISOString()}`
  const accepted = async (query: string) =>
    (await api.get(`${url}?${query}`, key)).body['totals'] as { accepted: number }
  expect(await accepted(`${from}&${until(2 * hour_ms)}`)).toMatchObject({ accepted: 11 })
  expect(await accepted(`${from}&${until(hour_ms)}`)).toMatchObject({ accepted: 1 })
  expect(await accepted(until(hour_ms))).toMatchObject({ accepted: 1 })
  const all = `${from}&${until(2 * hour_ms)}`
  expect(await accepted(`${all}&path=api`)).toMatchObject({ accepted: 10 })
  expect(await accepted(`${all}&reason=sampled`)).toMatchObject({ accepted: 1, rejected: 1 })
  const { body } = await api.get(`${url}?path=api`, key)
  expect(body['paths']).toMatchObject([{ path: 'api' }])
})

test.each([
  ['path=smtp', 'query.path'],
  ['from=yesterday', 'query.from'],
  ['reason=', 'query.reason'],
  ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'query.from'],
  ['from=2200-01-01T00:00:00Z', 'query.from'],
  ['day=1', 'query.day'],
])('%s is refused', async (query, pointer) => {
  const { status, body } = await api.get(`${url}?${query}`, key)
  expect([status, body['code']]).toEqual([400, 'invalid_request'])
  expect(body['errors']).toMatchObject([{ pointer }])
})

test.each([
  ['nothing', {}, 401],
  ['a key without the scope', 'ingest:write', 403],
  ['a key that may query', 'query:run', 200],
  ['a viewer', 'viewer', 200],
])('%s', async (_, given, expected) => {
  const headers =
    typeof given !== 'string'
      ? given
      : given === 'viewer'
        ? tokenOf(given, project_id)
        : keyOf(project_id, given)
  expect((await api.get(url, headers)).status).toBe(expected)
})

test('another project sees nothing of it', async () => {
  await insert({})
  const { body } = await api.get(url, keyOf(newId(), 'traces:read'))
  expect(body['totals']).toEqual(zeros)
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { compilePolicy, defaultRules } from '../../src/capabilities/records/capture/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { problem } from '../../src/kernel/problem.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import { openRecordApi, type RecordApi, recordsNowMs } from '../support/record-api.ts'
import { correlationOf, entryOf, rowsOf, second, start } from '../support/records.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: RecordApi
beforeAll(async () => {
  api = await openRecordApi()
})
afterAll(() => api[Symbol.asyncDispose]())
beforeEach(() => {
  api.enqueued.length = 0
  // Stores at once, as a worker would.
  api.onEnqueue = async ({ records, ingest_request_id, items }) => {
    const rows = rowsOf('correlations', records.correlations)
    await api.records.insertRows('correlations', rows, { token: newId() })
    const { project_id } = api
    const settled = { side: 'settled', items, stored: items } as const
    await api.ledger.insertEntries([entryOf({ project_id, ingest_request_id, ...settled })], {
      token: newId(),
    })
    return 1
  }
})

const url = '/api/v2/observability/correlations'
const now_iso = new Date(recordsNowMs).toISOString()
const one = () => ({ trace_id: newId(), correlation_type: 'order', correlation_value: newId() })

const valuesOf = (body: Record<string, unknown>) =>
  (body['correlations'] as { correlation_value: string }[]).map((row) => row.correlation_value)

describe('adding', () => {
  test('only what the capture policy allows is enqueued and returned', async () => {
    api.policy = compilePolicy({ content: 'metadata_only', sample_rate: 1, masks: [] })
    const baggage = { ...one(), correlation_type: 'w3c_baggage' }
    const kept = one()
    const { status, body } = await api.post(url, { correlations: [baggage, kept] })
    api.policy = compilePolicy(defaultRules)
    expect([status, valuesOf(body)]).toEqual([202, [kept.correlation_value]])
    expect(api.enqueued.at(-1)).toMatchObject({ items: 2, rejected: { content_not_kept: 1 } })
    expect(api.enqueued.at(-1)?.records.correlations).toHaveLength(1)
  })

  test('a list is accepted, enqueued with its receipt, and read by its trace', async () => {
    const trace_id = newId()
    const correlations = [
      {
        trace_id: trace_id.replaceAll('-', '').toUpperCase(),
        observation_id: '00f067aa0ba902b7',
        correlation_type: 'ticket',
        correlation_value: 'é🦊 {x:String} \\n%',
        time: isoFromNs(start + 7n),
        metadata: { system: 'desk', open: true, nothing: null },
      },
      { trace_id, correlation_type: 'order', correlation_value: 'o-1' },
    ]
    const { status, body, headers } = await api.post(url, { correlations })
    expect(status).toBe(202)
    expect(headers['x-ingest-request-id']).toBe(body['ingest_request_id'])
    const taken = [
      {
        trace_id,
        observation_id: '00f067aa0ba902b7',
        time: isoFromNs(start + 7n),
        source: 'api',
        correlation_type: 'ticket',
        correlation_value: 'é🦊 {x:String} \\n%',
        metadata: { system: 'desk', open: 'true' },
      },
      {
        trace_id,
        observation_id: null,
        time: now_iso,
        source: 'api',
        correlation_type: 'order',
        correlation_value: 'o-1',
        metadata: {},
      },
    ]
    expect(body).toEqual({
      ingest_request_id: body['ingest_request_id'],
      stored: false,
      correlations: taken,
    })
    expect(api.enqueued).toMatchObject([
      {
        project_id: api.project_id,
        path: 'api',
        ingest_request_id: body['ingest_request_id'],
        received_at_ms: recordsNowMs,
        items: 2,
        rejected: {},
        every_record_is_an_item: true,
      },
    ])
    const read = await api.get(`/api/v2/observability/traces/${trace_id}/correlations`)
    expect(read.body).toEqual({ correlations: taken, total: 2, next_cursor: null })
    const some = await api.get(`/api/v2/observability/traces/${trace_id}/correlations?type=order`)
    expect(some.body).toMatchObject({ correlations: [taken[1]], total: 1 })
  })

  test('a single one is the body itself', async () => {
    const { status, body } = await api.post(url, one())
    expect(status).toBe(202)
    expect(body['correlations']).toHaveLength(1)
  })

  test('wait=true answers once the worker has stored them', async () => {
    expect((await api.post(`${url}?wait=true`, one())).body['stored']).toBe(true)
  })

  test('wait=true reports what the worker refused', async () => {
    api.onEnqueue = async ({ ingest_request_id }) => {
      const refused = { side: 'settled', items: 1, stored: 0, rejected: { bad: 1 } } as const
      const entry = entryOf({ project_id: api.project_id, ingest_request_id, ...refused })
      await api.ledger.insertEntries([entry], { token: newId() })
      return 1
    }
    expect((await api.post(`${url}?wait=true`, one())).body['stored']).toBe(false)
  })

  test.each([
    [{ correlations: [] }, '/correlations'],
    [{ correlations: 'x' }, '/correlations'],
    [{ correlations: Array.from({ length: 1001 }, one) }, '/correlations'],
    [{ correlations: [one(), { ...one(), trace_id: 'x' }] }, '/correlations/1/trace_id'],
    [{ correlations: [one()], more: 1 }, ''],
    [{ ...one(), correlation_type: 'Order' }, '/correlation_type'],
    [{ ...one(), correlation_type: `a${'b'.repeat(64)}` }, '/correlation_type'],
    [{ ...one(), correlation_value: '' }, '/correlation_value'],
    [{ ...one(), correlation_value: 'x'.repeat(2049) }, '/correlation_value'],
    [{ ...one(), trace_id: '0'.repeat(32) }, '/trace_id'],
    [{ ...one(), observation_id: 'x'.repeat(65) }, '/observation_id'],
    [{ ...one(), time: 'yesterday' }, '/time'],
    [{ ...one(), metadata: [] }, '/metadata'],
    [{ ...one(), more: 1 }, ''],
    [[], ''],
    ['x', ''],
  ])('%j is refused', async (given, pointer) => {
    const { status, body } = await api.post(url, given)
    expect([status, body['code']]).toEqual([400, 'invalid_request'])
    expect(body['errors']).toMatchObject([{ pointer }])
    expect(api.enqueued).toEqual([])
  })

  test('2,048 characters are accepted, and pages continue', async () => {
    const trace_id = newId()
    const correlations = ['a', 'b', 'c'].map((end) => ({
      ...one(),
      trace_id,
      correlation_value: '\u0001'.repeat(2047) + end,
    }))
    expect((await api.post(url, { correlations })).status).toBe(202)
    const prefix = encodeURIComponent('\u0001'.repeat(1000))
    for (const list of [
      `/api/v2/observability/traces/${trace_id}/correlations?limit=2`,
      `${url}/search?type=order&prefix=${prefix}&limit=2`,
    ]) {
      const first = await api.get(list)
      const rest = await api.get(`${list}&cursor=${first.body['next_cursor']}`)
      const values = [...valuesOf(first.body), ...valuesOf(rest.body)]
      expect(values.map((value) => value.at(-1)).toSorted()).toEqual(['a', 'b', 'c'])
    }
  })

  test('a full queue is reported', async () => {
    api.onEnqueue = async () => {
      throw problem('overloaded', { retry_after_s: 2 })
    }
    const { status, headers } = await api.post(url, one())
    expect([status, headers['retry-after']]).toEqual([503, '2'])
  })

  test.each([
    ['nothing', {}, 401],
    ['a key that may only read', 'traces:read', 403],
    ['a viewer', 'viewer', 403],
    ['an editor', 'editor', 202],
  ])('%s', async (_, given, expected) => {
    const headers =
      typeof given !== 'string'
        ? given
        : given.includes(':')
          ? keyOf(api.project_id, given)
          : tokenOf(given, api.project_id)
    expect((await api.post(url, one(), headers)).status).toBe(expected)
  })
})

describe('search', () => {
  const search = `${url}/search`
  let type: string
  beforeEach(async () => {
    type = `t${newId().replaceAll('-', '')}`
    const at = (correlation_value: string, days: bigint) =>
      correlationOf({
        project_id: api.project_id,
        correlation_type: type,
        correlation_value,
        time: BigInt(recordsNowMs) * 1_000_000n - days * 86_400n * second,
      })
    const rows = [at('o-1', 1n), at('o-12', 2n), at('p', 3n), at('o-1', 8n), at('o-1', -1n)]
    await api.records.insertRows('correlations', rowsOf('correlations', rows), { token: newId() })
  })

  test.each([
    ['value=o-1', ['o-1']],
    ['prefix=o-1', ['o-1', 'o-12']],
    ['prefix=o-1&order=asc', ['o-12', 'o-1']],
    ['', ['o-1', 'o-12', 'p']],
    ['value=o', []],
    [`value=o-1&from=2020-01-01T00:00:00Z`, ['o-1', 'o-1']],
    [
      `from=2020-01-01T00:00:00Z&to=${new Date(recordsNowMs - 2 * 86_400_000).toISOString()}`,
      ['p', 'o-1'],
    ],
  ])('%s', async (query, expected) => {
    const { status, body } = await api.get(`${search}?type=${type}&${query}`)
    expect(status).toBe(200)
    expect(valuesOf(body)).toEqual(expected)
    expect(body['total']).toBe(expected.length)
  })

  test('returns the window that it searched, and pages in it', async () => {
    const first = await api.get(`${search}?type=${type}&limit=2`)
    expect(first.body['window']).toEqual({
      from: new Date(recordsNowMs + 60_000 - 7 * 86_400_000).toISOString(),
      to: new Date(recordsNowMs + 60_000).toISOString(),
    })
    const cursor = first.body['next_cursor']
    const next = await api.get(`${search}?type=${type}&limit=2&cursor=${cursor}`)
    expect(valuesOf(next.body)).toEqual(['p'])
    expect(next.body).toMatchObject({ total: 3, next_cursor: null })
    const other = await api.get(`${search}?type=${type}&value=p&cursor=${cursor}`)
    expect(other.body['code']).toBe('invalid_cursor')
  })

  test.each([
    ['', 'query.type'],
    ['type=Order', 'query.type'],
    ['type=a&value=x&prefix=x', 'query.prefix'],
    [`type=a&value=${'x'.repeat(2049)}`, 'query.value'],
    ['type=a&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'query.from'],
  ])('%s is refused', async (query, pointer) => {
    const { status, body } = await api.get(`${search}?${query}`)
    expect(status).toBe(400)
    expect(body['errors']).toMatchObject([{ pointer }])
  })

  test('another project finds nothing, nor does a key without the scope', async () => {
    const stranger = await api.get(`${search}?type=${type}`, keyOf(newId(), 'traces:read'))
    expect(stranger.body).toMatchObject({ correlations: [], total: 0 })
    const key = keyOf(api.project_id, 'ingest:write')
    expect((await api.get(`${search}?type=${type}`, key)).status).toBe(403)
  })
})

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { conversationIdFrom } from '../../src/kernel/ids.ts'
import {
  correlation,
  event,
  link,
  observation,
  start,
  start_ns,
  trace,
  traceHex,
  traceUuid,
} from '../support/canonical-records.ts'
import {
  type IngestRequestApi,
  ingestKey,
  openIngestRequestApi,
} from '../support/ingest-request-api.ts'
import { testPostgres } from '../support/postgres.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let url: string
let api: IngestRequestApi
beforeAll(async () => {
  url = await testPostgres()
  api = await openIngestRequestApi(url)
})
afterAll(() => api[Symbol.asyncDispose]())
beforeEach(() => {
  for (const list of [api.enqueued, api.published, api.accepted]) list.splice(0)
})

/** The drafts of the latest batch. */
function drafts() {
  const request = api.enqueued.at(-1)
  if (request === undefined) throw new Error('nothing was handed over')
  return request.records
}

const payloadOf = ({ body }: { body: Record<string, unknown> }) =>
  body['result_payload'] as Record<string, unknown> & {
    errors: { pointer: string; detail: string }[]
  }

describe('a batch', () => {
  test('of every kind is published and answered with its record', async () => {
    const before = new Date().toISOString()
    const reply = await api.post({
      idempotency_key: 'every kind',
      schema_version: '2026-02-23',
      traces: [trace({ name: 'run' })],
      observations: [observation()],
      events: [event()],
      links: [link()],
      correlations: [correlation()],
    })
    expect(reply.status).toBe(202)
    const { ingest_request_id, first_seen_at, ...rest } = reply.body
    expect(reply.headers['x-ingest-request-id']).toBe(ingest_request_id)
    expect(String(first_seen_at) >= before).toBe(true)
    expect(rest).toEqual({
      idempotency_key: 'every kind',
      schema_version: '2026-02-23',
      status: 'queued',
      attempts: 0,
      last_seen_at: first_seen_at,
      replayed_hits: 0,
      error_reason: null,
      result_payload: {
        traces: 0,
        observations: 0,
        events: 0,
        links: 0,
        correlations: 0,
        rejected: 0,
        errors: [],
        errors_left_out: 0,
      },
    })
    expect(api.enqueued).toMatchObject([
      {
        project_id: api.project_id,
        path: 'api',
        ingest_request_id,
        received_at_ms: Date.parse(String(first_seen_at)),
        items: 5,
        rejected: {},
        masked: 0,
        every_record_is_an_item: true,
      },
    ])
    expect(api.published).toHaveLength(1)
    expect(api.accepted).toMatchObject([{ items: 5, ingest_request_id, side: 'accepted' }])
  })

  test('needs only its records, and gets a generated key', async () => {
    const { status, body } = await api.post({ observations: [observation()] })
    expect(status).toBe(202)
    expect(body['idempotency_key']).toBe(`request-${body['ingest_request_id']}`)
    expect(body['schema_version']).toBe('2026-02-23')
  })

  test('may be empty: it has succeeded with nothing', async () => {
    const { status, body } = await api.post({})
    expect([status, body['status'], body['error_reason']]).toEqual([202, 'succeeded', null])
  })

  test.each([
    ['text', '"batch"', 400, 'invalid_request'],
    ['a list', '[]', 400, 'invalid_request'],
    ['no JSON', '{"traces":', 400, 'invalid_json'],
    ['nothing', '', 400, 'invalid_request'],
    ['an unknown field', '{"spans":[]}', 400, 'invalid_request'],
    ['traces that are no list', '{"traces":{}}', 400, 'invalid_request'],
    ['an empty key', '{"idempotency_key":""}', 400, 'invalid_request'],
    ['a long key', `{"idempotency_key":"${'k'.repeat(257)}"}`, 400, 'invalid_request'],
    ['a control character in the key', '{"idempotency_key":"a\\u0000"}', 400, 'invalid_request'],
    ['too many records', `{"traces":[${'0,'.repeat(50_000)}0]}`, 400, 'invalid_request'],
    [
      'too many records of several kinds',
      `{"traces":[${'0,'.repeat(30_000)}0],"events":[${'0,'.repeat(30_000)}0]}`,
      400,
      'invalid_request',
    ],
    ['too many bytes', `{"traces":[${' '.repeat(2_000_000)}]}`, 413, 'body_too_large'],
    ['a proto in the envelope', '{"__proto__":{}}', 400, 'invalid_request'],
  ])('that is %s is refused', async (_name, payload, status, code) => {
    const reply = await api.post(payload)
    expect([reply.status, reply.body['code']]).toEqual([status, code])
    expect(api.enqueued).toEqual([])
  })

  test.each(['2026-02-22', '2', ''])(
    'of version "%s" is refused with the list',
    async (version) => {
      const { status, body } = await api.post({ schema_version: version, traces: [trace()] })
      expect([status, body['code']]).toEqual([400, 'unknown_schema_version'])
      expect(body['errors']).toEqual([
        { pointer: '/schema_version', detail: `got "${version}", expected one of 2026-02-23` },
      ])
    },
  )

  test('accepts its key from the header too, but not a different one', async () => {
    const headers = { ...ingestKey(api.project_id), 'idempotency-key': 'in the header' }
    const first = await api.post({ traces: [trace()] }, { headers })
    expect(first.body['idempotency_key']).toBe('in the header')
    const same = await api.post(
      { traces: [trace()], idempotency_key: 'in the header' },
      { headers },
    )
    expect(same.body['ingest_request_id']).toBe(first.body['ingest_request_id'])
    const other = await api.post({ traces: [trace()], idempotency_key: 'another' }, { headers })
    expect(other).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ pointer: '/idempotency_key' }] },
    })
  })
})

describe('an invalid record', () => {
  test.each([
    ['/observations/0/start_time', { observations: [observation({ start_time: 'noon' })] }],
    ['/observations/0/start_time', { observations: [observation({ start_time: undefined })] }],
    [
      '/observations/0/start_time',
      { observations: [observation({ start_time: '2026-03-01T12:00:00.1234567890Z' })] },
    ],
    [
      '/observations/0/end_time',
      { observations: [observation({ end_time: '2026-03-01T11:00:00Z' })] },
    ],
    ['/observations/0/observation_id', { observations: [observation({ observation_id: '' })] }],
    [
      '/observations/0/observation_id',
      { observations: [observation({ observation_id: 'x'.repeat(65) })] },
    ],
    ['/observations/0/trace_id', { observations: [observation({ trace_id: '0'.repeat(32) })] }],
    ['/observations/0/trace_id', { observations: [observation({ trace_id: 'abc' })] }],
    ['/observations/0/type', { observations: [observation({ type: 'dream' })] }],
    ['/observations/0/task_id', { observations: [observation({ task_id: 'a\u0000b' })] }],
    ['/observations/0/spans', { observations: [observation({ spans: 1 })] }],
    ['/observations/0/a~1~0b', { observations: [observation({ 'a/~b': 1 })] }],
    ['/observations/0/input_tokens', { observations: [observation({ input_tokens: 1.5 })] }],
    [
      '/observations/0/input_tokens',
      { observations: [observation({ input_tokens: 1, cache_read_tokens: 2 })] },
    ],
    [
      '/observations/0/output_tokens',
      { observations: [observation({ output_tokens: 1, output_visible_tokens: 1 })] },
    ],
    ['/observations/0/cost_usd', { observations: [observation({ cost_usd: '1e3' })] }],
    ['/observations/0/cost_usd', { observations: [observation({ cost_usd: -1 })] }],
    ['/observations/0/attributes', { observations: [observation({ attributes: [] })] }],
    [
      '/observations/0/attributes/constructor',
      { observations: [observation({ attributes: { constructor: 1 } })] },
    ],
    [
      '/observations/0/tool_calls/0/name',
      { observations: [observation({ tool_calls: [{ id: 'c' }] })] },
    ],
    ['/observations/0/traceparent', { observations: [observation({ traceparent: 'x' })] }],
    ['/observations/0', { observations: [null] }],
    ['/observations/0', { observations: ['text'] }],
    ['/traces/0/task_id', { traces: [trace({ task_id: 'x'.repeat(257) })] }],
    ['/events/0/name', { events: [event({ name: '' })] }],
    ['/events/0/level', { events: [event({ level: 'loud' })] }],
    ['/observations/0/level', { observations: [observation({ level: 9 })] }],
    ['/links/0/linked_trace_id', { links: [link({ linked_trace_id: 7 })] }],
    [
      '/correlations/0/correlation_type',
      { correlations: [correlation({ correlation_type: 'A b' })] },
    ],
    [
      '/correlations/0/correlation_value',
      { correlations: [correlation({ correlation_value: '' })] },
    ],
  ])('is refused alone, at %s', async (pointer, batch) => {
    const good = observation({ observation_id: 'good' })
    const observations = [...((batch as { observations?: unknown[] }).observations ?? []), good]
    const reply = await api.post({ ...batch, observations })
    expect(reply.status).toBe(202)
    const { errors, rejected } = payloadOf(reply)
    expect(errors.map((fault) => fault.pointer)).toEqual([pointer])
    expect(rejected).toBe(1)
    expect(reply.body['error_reason']).toContain(pointer)
    expect(drafts().observations.map((draft) => draft.observation_id)).toEqual(['good'])
    expect(api.enqueued[0]).toMatchObject({ items: 2, rejected: { invalid_record: 1 } })
    expect(api.accepted).toMatchObject([
      { items: 1, rejected: {} },
      { message_id: '', items: 1, rejected: { invalid_record: 1 } },
    ])
  })

  test('with keys that would change a prototype is refused alone and changes nothing', async () => {
    const evil = JSON.stringify(observation()).slice(0, -1)
    const reply = await api.post(`{"observations":[
      ${evil},"__proto__":{"polluted":true}},
      ${evil},"constructor":{"prototype":{"polluted":true}}},
      ${evil},"attributes":{"__proto__":{"polluted":true}}},
      ${evil},"input":{"__proto__":{"polluted":true},"constructor":{"prototype":1}}}]}`)
    expect(reply.status).toBe(202)
    expect(payloadOf(reply).errors.map(({ pointer }) => pointer)).toEqual([
      '/observations/0/__proto__',
      '/observations/1/constructor',
      '/observations/2/attributes/__proto__',
    ])
    expect(drafts().observations.map(({ input }) => input)).toEqual([
      '{"__proto__":{"polluted":true},"constructor":{"prototype":1}}',
    ])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('that is nested too deeply is refused alone', async () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    const record = JSON.stringify(observation()).slice(0, -1)
    const reply = await api.post(
      `{"observations":[${record},"input":${nested(400_000)}},${record},"input":${nested(200)}}]}`,
    )
    expect(payloadOf(reply).errors).toEqual([
      { pointer: '/observations/0', detail: 'is nested deeper than 256 levels' },
    ])
    expect(drafts().observations.map(({ input }) => input)).toEqual([nested(200)])
  })

  test('is one of many: the first hundred faults are listed, the others counted', async () => {
    const observations = Array.from({ length: 250 }, (_, n) => observation({ start_time: n }))
    const reply = await api.post({ observations, traces: [trace()] })
    expect(payloadOf(reply)).toMatchObject({ rejected: 250, errors_left_out: 150 })
    expect(payloadOf(reply).errors).toHaveLength(100)
    expect(payloadOf(reply).errors[99]?.pointer).toBe('/observations/99/start_time')
  })

  test('fails a request of only invalid records, which has no message', async () => {
    const reply = await api.post({ observations: [observation({ type: 'dream' }), 7] })
    expect(reply.status).toBe(202)
    expect(reply.body).toMatchObject({ status: 'failed', result_payload: { rejected: 2 } })
    expect(reply.body['error_reason']).toContain('no record is valid, first /observations/0/type')
    expect(api.published).toEqual([])
    expect(api.accepted).toMatchObject([{ message_id: '', rejected: { invalid_record: 2 } }])
  })
})

describe('a stored record', () => {
  const stored = async (record: Record<string, unknown>, more: Record<string, unknown> = {}) => {
    expect((await api.post({ observations: [observation(record)], ...more })).status).toBe(202)
    return drafts().observations[0]
  }

  test('has defaults, or null, for omitted fields', async () => {
    const draft = await stored({ name: null, end_time: null, attributes: null, usage_source: null })
    expect(draft).toEqual({
      project_id: api.project_id,
      trace_id: traceUuid,
      observation_id: 'o-1',
      parent_observation_id: '',
      type: 'span',
      name: '',
      start_time: start_ns,
      end_time: start_ns,
      status: 'ok',
      status_code: 0,
      outcome: '',
      error_type: '',
      error_message: '',
      source: 'api',
      contract_version: 'canonical-2026-02-23',
      provider: '',
      model_requested: '',
      model: '',
      endpoint: '',
      task_id: traceUuid,
      task_name: '',
      task_implicit: true,
      conversation_id: '',
      conversation_external_id: '',
      user_id: '',
      environment: '',
      release: '',
      service_name: '',
      agent_name: '',
      span_kind: '',
      level: '',
      input: '',
      output: '',
      content_state: 'full',
      tool_calls: [],
      tool_results: [],
      streamed: false,
      finish_reason: '',
      input_uncached_tokens: null,
      cache_read_tokens: null,
      cache_write_tokens: null,
      output_visible_tokens: null,
      reasoning_tokens: null,
      usage_source: 'none',
      usage_semantics: '',
      usage_details: {},
      service_tier: '',
      response_id: '',
      counted_with: '',
      cost_usd: null,
      price_version: '',
      price_partial: [],
      cost_computed_usd: null,
      cost_reported_usd: null,
      time_to_first_token_ms: null,
      request_bytes: 0,
      response_bytes: 0,
      attributes: [],
      metadata: [],
      mapped_from: '',
    })
  })

  test('keeps text as text and other content as JSON text', async () => {
    const draft = await stored({
      input: [{ role: 'user', content: 'hi' }],
      output: '{"as":"text"}',
      tool_calls: [{ id: 'c', name: 'find', arguments: { q: 1 } }],
      tool_results: [{ tool_call_id: 'c', content: 'found' }],
      attributes: { text: 'x', number: 1.5, flag: false, none: null, list: [1] },
      metadata: { team: 'red' },
    })
    expect(draft).toMatchObject({
      input: '[{"role":"user","content":"hi"}]',
      output: '{"as":"text"}',
      tool_calls: [{ id: 'c', name: 'find', arguments: '{"q":1}' }],
      tool_results: [{ tool_call_id: 'c', content: 'found' }],
      attributes: ['text', 'x', 'number', '1.5', 'flag', 'false', 'list', '[1]'],
      metadata: ['team', 'red'],
    })
  })

  test.each([
    [{ error_message: 'no' }, 'error'],
    [{ error_type: 'timeout' }, 'error'],
    [{ status_code: 404 }, 'error'],
    [{ status_code: 399 }, 'ok'],
    [{ status_code: 500, status: 'cancelled' }, 'cancelled'],
  ])('%j has status %s', async (record, status) => {
    expect((await stored(record))?.status).toBe(status)
  })

  test('keeps parts with prices of their own, and a cost beside ours', async () => {
    const draft = await stored({
      type: 'generation',
      provider: 'openai',
      model: 'gpt-4o-mini',
      input_tokens: 1_000,
      cache_read_tokens: 500,
      output_tokens: 100,
      usage_details: { input_audio: 300, cache_read_audio: 100, output_audio: null },
      service_tier: 'default',
      cost_usd: '0.5',
    })
    expect(draft).toMatchObject({
      input_uncached_tokens: 500,
      usage_details: { input_audio: 200, cache_read_audio: 100 },
      service_tier: 'standard',
      cost_usd: '0.5',
      cost_reported_usd: '0.5',
      price_partial: [],
    })
    const alone = await stored({ total_tokens: 12 })
    expect(alone).toMatchObject({ input_uncached_tokens: 12, usage_details: { unsplit: 12 } })
    expect(await stored({ input_tokens: 4, total_tokens: 12 })).toMatchObject({
      input_uncached_tokens: 4,
      output_visible_tokens: 8,
    })
  })

  const none = { cache_read_tokens: null, cache_write_tokens: null, reasoning_tokens: null }
  test.each([
    [
      {
        input_tokens: 10,
        cache_read_tokens: 3,
        cache_write_tokens: 2,
        output_tokens: 7,
        reasoning_tokens: 6,
      },
      {
        input_uncached_tokens: 5,
        output_visible_tokens: 1,
        usage_semantics: 'inclusive',
        usage_source: 'provider',
      },
    ],
    [
      {
        input_uncached_tokens: 10,
        cache_read_tokens: 3,
        output_visible_tokens: 7,
        usage_source: 'estimated',
      },
      {
        input_uncached_tokens: 10,
        cache_read_tokens: 3,
        usage_semantics: 'exclusive',
        usage_source: 'estimated',
      },
    ],
    [{ input_tokens: 10 }, { input_uncached_tokens: 10, output_visible_tokens: null, ...none }],
    [
      { reasoning_tokens: 4 },
      { reasoning_tokens: 4, output_visible_tokens: null, input_uncached_tokens: null },
    ],
  ])('counts %j', async (record, expected) => {
    expect(await stored(record)).toMatchObject(expected)
  })

  test.each([
    ['', ''],
    ...['trace', 'debug', 'TRACE', 'DEBUG'].map((level) => [level, 'debug']),
    ...['info', 'default', 'INFO', 'DEFAULT'].map((level) => [level, 'default']),
    ...['warn', 'warning', 'WARN', 'WARNING'].map((level) => [level, 'warning']),
    ...['error', 'fatal', 'ERROR', 'FATAL'].map((level) => [level, 'error']),
  ])('the level "%s" of an observation or an event is stored as "%s"', async (level, kept) => {
    expect((await stored({ level }))?.level).toBe(kept)
    api.enqueued.length = 0
    await api.post({ events: [event({ level })] })
    expect(drafts().events.map((draft) => draft.level)).toEqual([kept])
  })

  const call = { provider: 'openai', model: 'gpt-4o-mini', input_tokens: 1000, output_tokens: 100 }
  test.each([
    [call, '0.00021', 'genai-prices'],
    [{ ...call, cost_usd: '1.5' }, '1.5', ''],
    [{ ...call, cost_usd: 0.1 }, '0.100000000', ''],
    [{ ...call, model: 'mine' }, null, 'genai-prices'],
    [{ ...call, input_tokens: null, output_tokens: null }, null, ''],
    [{ ...call, service_tier: 'priority' }, '0.00035', 'genai-prices'],
    [{ ...call, input_tokens: null, output_tokens: null, total_tokens: 10 }, null, 'genai-prices'],
  ])('costs of %j are %s', async (record, cost, priced_by) => {
    const draft = await stored(record)
    expect(draft?.cost_usd).toBe(cost)
    expect(draft?.price_version.split(' ')[0]).toBe(priced_by)
  })

  test('inherits omitted fields from the trace of its batch', async () => {
    const about = {
      task_id: 't-1',
      task_name: 'Sort',
      conversation_id: 'chat/1',
      user_id: 'ada',
      environment: 'prod',
      release: 'v1',
    }
    const traces = [trace({ ...about })]
    const { conversation_id } = conversationIdFrom(api.project_id, 'chat/1')
    expect(await stored({}, { traces })).toMatchObject({
      ...about,
      task_implicit: false,
      conversation_id,
      conversation_external_id: 'chat/1',
    })
    const own = randomUUID()
    expect(
      await stored({ task_id: 't-2', conversation_id: own, user_id: 'eve' }, { traces }),
    ).toMatchObject({
      task_id: 't-2',
      task_name: '',
      conversation_id: own,
      conversation_external_id: '',
      user_id: 'eve',
      release: 'v1',
    })
    expect(await stored({ trace_id: randomUUID() }, { traces })).toMatchObject({
      task_implicit: true,
      user_id: '',
    })
  })

  test('is a trace, an event, a link or a correlation', async () => {
    await api.post({
      traces: [trace({ time: start, name: 'run', input: { a: 1 }, metadata: { m: 1 } })],
      observations: [observation()],
      events: [event(), event({ body: ['x'] }), event({ event_id: 'mine', observation_id: 'o-1' })],
      links: [link(), link({ linked_observation_id: 'o-9', link_id: 'l', observation_id: 'o-7' })],
      correlations: [correlation({ metadata: { shop: 'x' } })],
    })
    const { traces, events, links, correlations } = drafts()
    const received = BigInt(api.enqueued[0]?.received_at_ms ?? 0) * 1_000_000n
    const of = { project_id: api.project_id, source: 'api', trace_id: traceUuid }
    expect(traces).toMatchObject([
      { ...of, time: start_ns, name: 'run', task_id: '', input: '{"a":1}', metadata: ['m', '1'] },
    ])
    expect(events).toMatchObject([
      { ...of, event_id: `${start_ns}-0`, observation_id: '', body: '', time: start_ns },
      { ...of, event_id: `${start_ns}-1`, body: '["x"]' },
      { ...of, event_id: 'mine', observation_id: 'o-1' },
    ])
    expect(links).toMatchObject([
      { ...of, link_id: `${traceUuid}-`, time: start_ns, linked_trace_id: traceUuid },
      { ...of, link_id: 'l', time: received, linked_observation_id: 'o-9' },
    ])
    expect(correlations).toMatchObject([
      { ...of, correlation_type: 'order_id', correlation_value: '4711', metadata: ['shop', 'x'] },
    ])
  })

  test('accepts trace ids that are not a UUID of any version, in both spellings', async () => {
    const odd = 'ffffffff-ffff-ffff-0fff-fffffffffff0'
    expect((await stored({ trace_id: odd.toUpperCase() }))?.trace_id).toBe(odd)
    expect((await stored({ trace_id: odd.replaceAll('-', '') }))?.trace_id).toBe(odd)
  })
})

describe('W3C contexts', () => {
  const traceparent = `00-${traceHex}-b7ad6b7169203331-01`
  const shown = () =>
    drafts().correlations.map((one) => [
      one.correlation_type,
      one.correlation_value,
      one.observation_id,
    ])

  test('of a record become its correlations, and count as items', async () => {
    await api.post({
      traces: [trace({ tracestate: 'a=1' })],
      observations: [observation({ traceparent, baggage: 'k=v' })],
    })
    expect(shown()).toEqual([
      ['w3c_tracestate', 'a=1', ''],
      ['w3c_traceparent', traceparent, 'o-1'],
      ['w3c_baggage', 'k=v', 'o-1'],
    ])
    expect(api.enqueued[0]?.items).toBe(5)
    expect(api.accepted).toMatchObject([{ items: 5 }])
  })

  test('of the batch apply to each of its traces; a field overrides a header', async () => {
    const headers = {
      ...ingestKey(api.project_id),
      traceparent,
      tracestate: 'in=header',
      baggage: Array.from({ length: 300 }, (_, n) => `member${n}=v`).join(','),
    }
    const other = randomUUID()
    const observations = [observation(), observation({ trace_id: other })]
    await api.post({ tracestate: 'in=body', observations }, { headers })
    const { correlations } = drafts()
    expect(correlations.map((one) => one.trace_id)).toEqual([
      ...Array(3).fill(traceUuid),
      ...Array(3).fill(other),
    ])
    expect(shown()[1]).toEqual(['w3c_tracestate', 'in=body', ''])
    const baggage = correlations[2]?.correlation_value ?? ''
    expect(baggage.length).toBeLessThanOrEqual(2048)
    expect(baggage).toMatch(/,member\d+=v$/)
  })

  test('an invalid traceparent header is ignored', async () => {
    const headers = { ...ingestKey(api.project_id), traceparent: 'nonsense' }
    expect((await api.post({ observations: [observation()] }, { headers })).status).toBe(202)
    expect(shown()).toEqual([])
  })
})

describe('permissions', () => {
  const batch = { observations: [observation()] }

  test('an editor and a key with ingest:write post; others cannot', async () => {
    const post = async (headers: Record<string, string>) =>
      (await api.post(batch, { headers: { ...headers } })).status
    expect(await post(tokenOf('editor', api.project_id))).toBe(202)
    expect(await post(tokenOf('viewer', api.project_id))).toBe(403)
    expect(await post(ingestKey(api.project_id))).toBe(202)
    expect(await post(keyOf(api.project_id, 'traces:read query:run proxy:write'))).toBe(403)
    expect(await post({})).toBe(401)
    expect(await post({ 'x-api-key': 'wrong' })).toBe(401)
    expect(await post(tokenOf('editor'))).toBe(400)
  })

  test('a viewer and keys with one of three scopes read, in their project only', async () => {
    const id = String((await api.post(batch)).body['ingest_request_id'])
    const path = `/api/v2/observability/ingest/${id}`
    const read = async (headers: Record<string, string>) => (await api.get(path, headers)).status
    for (const scope of ['ingest:write', 'traces:read', 'query:run']) {
      expect(await read(keyOf(api.project_id, scope))).toBe(200)
    }
    expect(await read(tokenOf('viewer', api.project_id))).toBe(200)
    expect(await read(keyOf(api.project_id, 'tasks:read proxy:write'))).toBe(403)
    expect(await read({})).toBe(401)
    const stranger = await api.get(path, keyOf(randomUUID(), 'traces:read'))
    expect([stranger.status, stranger.body['code']]).toEqual([404, 'ingest_request_not_found'])
  })

  test('the same key in another project is a different key', async () => {
    const keyed = { ...batch, idempotency_key: 'shared' }
    const ours = await api.post(keyed)
    const theirs = await api.post(keyed, { headers: ingestKey(randomUUID()) })
    expect(theirs.status).toBe(202)
    expect(theirs.body['ingest_request_id']).not.toBe(ours.body['ingest_request_id'])
    expect(theirs.body['replayed_hits']).toBe(0)
  })
})

describe('the capture policy', () => {
  test('may remove records and mask others; the record reports it', async () => {
    await using own = await openIngestRequestApi(url, {
      capture: (records, project_id) => {
        expect(project_id).toBe(own.project_id)
        const observations = records.observations.filter((one) => one.observation_id !== 'o-2')
        const left = records.observations.length - observations.length
        return { records: { ...records, observations }, rejected: { sampled: left }, masked: 1 }
      },
    })
    const both = [observation(), observation({ observation_id: 'o-2' })]
    const reply = await own.post({ observations: both })
    expect(reply.body).toMatchObject({
      status: 'queued',
      error_reason: '1 left out: sampled',
      result_payload: { rejected: 1, errors: [] },
    })
    expect(own.enqueued).toMatchObject([{ items: 2, rejected: { sampled: 1 }, masked: 1 }])
    const nothing = await own.post({ observations: [observation({ observation_id: 'o-2' })] })
    expect(nothing.body).toMatchObject({ status: 'succeeded', error_reason: '1 left out: sampled' })
  })
})

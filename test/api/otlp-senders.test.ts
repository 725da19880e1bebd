import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ObservationDraft } from '../../src/model/ingest-records.ts'
import { plainPairs } from '../support/agent-logs.ts'
import { otlpJson, type PlainSpan, type PlainTraces } from '../support/otlp-messages.ts'
import { type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'
import { pairsFrom } from '../support/otlp-spans.ts'

/** Services that send spans as OTLP/JSON, without an SDK in the user's program. */

let receiver: TestReceiver
beforeAll(async () => {
  receiver = await testReceiver()
})
beforeEach(() => void receiver.requests.splice(0))
afterAll(() => receiver?.[Symbol.asyncDispose]())

const times = { startTimeUnixNano: '1790000000000000000', endTimeUnixNano: '1790000002000000000' }
const traceId = '5b8efff798038103d269b633813fc60c'

type Sent = { service: string; scope?: string; spans: PlainSpan[]; headers?: object; path?: string }

async function send({ service, scope, spans, headers, path = '/v1/traces' }: Sent) {
  const resource = { attributes: plainPairs({ 'service.name': service }) }
  const scopeSpans = [{ ...(scope && { scope: { name: scope } }), spans }]
  const request: PlainTraces = { resourceSpans: [{ resource, scopeSpans }] }
  const answer = await fetch(`${receiver.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: new Uint8Array(otlpJson(request)),
  })
  expect([answer.status, await answer.json()]).toEqual([200, {}])
  return receiver.requests.flatMap(({ records }) => records.observations)
}

function only(rows: ObservationDraft[]): ObservationDraft {
  expect(rows).toHaveLength(1)
  return rows[0] as ObservationDraft
}

/** Written after https://openrouter.ai/docs/guides/features/broadcast, not captured. */
describe('the broadcast of OpenRouter', () => {
  const span: PlainSpan = {
    ...times,
    traceId,
    spanId: 'eee19b7ec3c1b174',
    name: 'chat',
    kind: 3,
    attributes: plainPairs({
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'openrouter',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'openai/gpt-4.1-mini',
      'gen_ai.response.model': 'openai/gpt-4.1-mini',
      'gen_ai.usage.prompt_tokens': 100,
      'gen_ai.usage.completion_tokens': 50,
      'gen_ai.usage.total_cost': 0.0012,
      'gen_ai.prompt': '[{"role":"user","content":"Where is parcel 7?"}]',
      'gen_ai.completion': 'It left Zürich.',
      'user.id': 'ada',
      'session.id': 'chat-42',
    }),
  }

  test.each([
    ['with a header', '/v1/traces', { 'X-API-Key': 'lt_writer' }],
    ['with a bearer token', '/v1/traces', { Authorization: 'Bearer lt_writer' }],
    ['with the key in the URL', '/k/lt_writer/v1/traces', {}],
  ])('%s', async (_, path, headers) => {
    const row = only(await send({ service: 'openrouter', spans: [span], headers, path }))
    expect(row).toMatchObject({
      type: 'generation',
      provider: 'openai',
      model: 'openai/gpt-4.1-mini',
      input_uncached_tokens: 100,
      output_visible_tokens: 50,
      cost_reported_usd: '0.0012',
      output: 'It left Zürich.',
      user_id: 'ada',
      conversation_external_id: 'chat-42',
    })
    expect(row.input.toString()).toContain('Where is parcel 7?')
  })

  test('its test of the connection, which has no spans, succeeds', async () => {
    const answer = await fetch(`${receiver.url}/v1/traces`, {
      method: 'POST',
      headers: {
        'X-API-Key': 'lt_writer',
        'Content-Type': 'application/json',
        'X-Test-Connection': 'true',
      },
      body: '{"resourceSpans":[]}',
    })
    expect([answer.status, await answer.json()]).toEqual([200, {}])
  })
})

/**
 * Spans as the callback `otel` of litellm 1.110.2 sent them to a recording server, without the
 * attributes that were empty.
 */
const changedByCache = new Set(['gen_ai.cost.total_cost', 'litellm.cache_hit'])

describe('the callback otel of LiteLLM', () => {
  const about = { service: 'litellm', scope: 'litellm', headers: { 'X-API-Key': 'lt_writer' } }
  const answered: PlainSpan = {
    ...times,
    traceId,
    spanId: 'efda091a56509b07',
    name: 'litellm_request',
    kind: 1,
    attributes: plainPairs({
      'metadata.applied_guardrails': '[]',
      hidden_params: '{"api_base": "https://api.openai.com", "response_cost": 3.6e-05}',
      'litellm.provider.model': 'openai/gpt-4.1-mini',
      'gen_ai.cost.total_cost': 0.000036,
      'litellm.cache_hit': false,
      'gen_ai.request.model': 'gpt-4.1-mini',
      'llm.request.type': 'acompletion',
      'gen_ai.system': 'openai',
      'llm.is_streaming': 'False',
      'llm.user': 'ada',
      'gen_ai.response.id': 'chatcmpl-c5b4832a',
      'litellm.call_id': '7d19547a-0150-41d7-8367-afe168e4ac35',
      'gen_ai.response.model': 'gpt-4.1-mini',
      'gen_ai.usage.total_tokens': 30,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.input.messages':
        '[{"role": "user", "parts": [{"type": "text", "content": "Where is parcel 7?"}]}]',
      'gen_ai.operation.name': 'acompletion',
      'gen_ai.output.messages':
        '[{"role": "assistant", "parts": [{"type": "text", "content": "It left."}], "finish_reason": "stop"}]',
      'gen_ai.response.finish_reasons': '["stop"]',
    }),
    status: { code: 1 },
  }
  const raw: PlainSpan = {
    ...times,
    traceId,
    spanId: 'd71d51f88986f100',
    parentSpanId: 'efda091a56509b07',
    name: 'raw_gen_ai_request',
    attributes: plainPairs({ 'llm.openai.stringified_raw_response': 'It left.' }),
    status: { code: 1 },
  }

  test('a call, and the raw request below it, are one call', async () => {
    const rows = await send({ ...about, spans: [answered, raw] })
    expect(rows.map(({ type }) => type)).toEqual(['generation', 'span'])
    expect(rows[0]).toMatchObject({
      provider: 'openai',
      model: 'gpt-4.1-mini',
      input_uncached_tokens: 10,
      output_visible_tokens: 20,
      cost_reported_usd: '0.000036',
      response_id: 'chatcmpl-c5b4832a',
      finish_reason: 'stop',
      user_id: 'ada',
    })
    expect(rows[1]?.parent_observation_id).toBe(rows[0]?.observation_id)
  })

  test('an answer from its cache has tokens and costs nothing', async () => {
    const cached: PlainSpan = {
      ...answered,
      spanId: 'efda091a56509b08',
      attributes: [
        ...(answered.attributes ?? []).filter(({ key }) => !changedByCache.has(key)),
        ...plainPairs({
          'gen_ai.cost.total_cost': 0,
          'litellm.cache_hit': true,
          'litellm.saved_cache_cost': 0.000036,
        }),
      ],
    }
    const row = only(await send({ ...about, spans: [cached] }))
    expect(row).toMatchObject({
      ...{ input_uncached_tokens: 10, output_visible_tokens: 20 },
      ...{ cost_usd: '0', price_version: 'reported', cost_reported_usd: '0' },
    })
    expect(pairsFrom(row.attributes)).toMatchObject({
      'litellm.cache_hit': 'true',
      'litellm.saved_cache_cost': '0.000036',
    })
  })

  test('a call that failed, which has no tokens, is a call', async () => {
    const failed: PlainSpan = {
      ...times,
      traceId,
      spanId: 'b1d27b4c2fccbdcf',
      name: 'litellm_request',
      attributes: plainPairs({
        'gen_ai.request.model': 'gpt-4.1-mini',
        'llm.request.type': 'acompletion',
        'gen_ai.system': 'openai',
        'gen_ai.operation.name': 'acompletion',
        'http.response.status_code': 429,
        'error.type': 'RateLimitError',
        'error.message': 'litellm.RateLimitError: too many',
      }),
      status: { code: 2 },
    }
    expect(only(await send({ ...about, spans: [failed] }))).toMatchObject({
      type: 'generation',
      status: 'error',
      status_code: 429,
      error_type: 'RateLimitError',
    })
  })
})

/**
 * Calls as the callback `generic_api` of litellm 1.110.2 sent them, without empty fields, prices of
 * models and traces of errors; the tool call was added.
 */
describe('the callback generic_api of LiteLLM', () => {
  const answered = {
    id: 'chatcmpl-d7ca558e',
    litellm_call_id: 'a10f15fd-3b89-4665-b644-4ca5c25710c8',
    trace_id: 'chat-42',
    call_type: 'acompletion',
    status: 'success',
    custom_llm_provider: 'openai',
    startTime: 1795928903.695394,
    endTime: 1795928903.937553,
    completionStartTime: 1795928903.937553,
    model: 'gpt-4.1-mini',
    metadata: { user_api_key_alias: 'team-a' },
    response_cost: 3.6e-5,
    total_tokens: 30,
    prompt_tokens: 10,
    completion_tokens: 20,
    messages: [{ role: 'user', content: 'Where is parcel 7?' }],
    response: {
      id: 'chatcmpl-d7ca558e',
      model: 'gpt-4.1-mini',
      choices: [
        {
          finish_reason: 'tool_calls',
          index: 0,
          message: {
            role: 'assistant',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"id":7}' } },
            ],
          },
        },
      ],
      usage: {
        completion_tokens: 20,
        prompt_tokens: 10,
        total_tokens: 30,
        prompt_tokens_details: { cached_tokens: 4 },
      },
    },
    model_parameters: { user: 'ada' },
  }
  const failed = {
    id: '0945f1cc-3fb1-4b89-9577-69b3316f7a7a',
    litellm_call_id: '0945f1cc-3fb1-4b89-9577-69b3316f7a7a',
    trace_id: 'chat-42',
    call_type: 'acompletion',
    status: 'failure',
    custom_llm_provider: 'openai',
    startTime: 1795928904.947376,
    endTime: 1795928904.972667,
    model: 'gpt-4.1-mini',
    response_cost: 0,
    messages: [{ role: 'user', content: 'x' }],
    error_str: 'litellm.RateLimitError: too many',
    error_information: { error_code: '429', error_class: 'RateLimitError' },
  }

  async function post(body: string, headers: object = { 'X-API-Key': 'lt_writer' }) {
    return fetch(`${receiver.url}/v1/litellm`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    })
  }

  test.each([
    ['a list', JSON.stringify([answered, failed])],
    ['a call on each line', [answered, failed].map((call) => JSON.stringify(call)).join('\n')],
  ])('%s becomes calls of one task', async (_, body) => {
    const answer = await post(body)
    expect([answer.status, await answer.text()]).toEqual([200, '{}'])
    const rows = receiver.requests.flatMap(({ records }) => records.observations)
    expect(rows[0]).toMatchObject({
      type: 'generation',
      name: 'chat gpt-4.1-mini',
      provider: 'openai',
      model: 'gpt-4.1-mini',
      start_time: 1795928903695394000n,
      end_time: 1795928903937553000n,
      input_uncached_tokens: 6,
      cache_read_tokens: 4,
      output_visible_tokens: 20,
      cost_reported_usd: '0.000036',
      response_id: 'chatcmpl-d7ca558e',
      finish_reason: 'tool_calls',
      tool_calls: [{ id: 'call_1', name: 'find', arguments: '{"id":7}' }],
      user_id: 'ada',
      service_name: 'litellm',
    })
    expect(rows[0]?.input.toString()).toContain('Where is parcel 7?')
    expect(rows[1]).toMatchObject({
      type: 'generation',
      status: 'error',
      status_code: 429,
      error_type: 'RateLimitError',
      error_message: 'litellm.RateLimitError: too many',
      model: '',
    })
    expect(rows[1]?.task_id).toBe(rows[0]?.task_id)
  })

  test('an answer from its cache has tokens and costs nothing', async () => {
    const cached = { ...answered, cache_hit: true, response_cost: 0, saved_cache_cost: 3.6e-5 }
    await post(JSON.stringify([cached, { ...answered, cache_hit: false }]))
    const rows = receiver.requests.flatMap(({ records }) => records.observations)
    expect(rows.map((row) => row.cost_reported_usd)).toEqual(['0', '0.000036'])
    expect(rows[0]).toMatchObject({
      ...{ input_uncached_tokens: 6, cache_read_tokens: 4, output_visible_tokens: 20 },
      ...{ price_version: 'reported', cost_reported_usd: '0' },
    })
    expect(pairsFrom(rows[0]?.attributes ?? [])).toMatchObject({ 'litellm.cache_hit': 'true' })
  })

  test('sent twice, has the same ids', async () => {
    for (const calls of [[answered], [failed, answered]]) await post(JSON.stringify(calls))
    const rows = receiver.requests.flatMap(({ records }) => records.observations)
    const ids = new Set(
      rows.map(({ observation_id, start_time }) => `${observation_id} ${start_time}`),
    )
    expect([rows.length, ids.size]).toEqual([3, 2])
  })

  test('items that are not calls are counted, and the others are stored', async () => {
    const answer = await post(JSON.stringify([answered, 7, {}]))
    expect(await answer.json()).toMatchObject({ partialSuccess: { rejectedCalls: '2' } })
    expect(receiver.requests[0]).toMatchObject({ items: 3, rejected: { invalid_item: 2 } })
  })

  test.each([
    ['no JSON', 'x', { 'X-API-Key': 'lt_writer' }, 400],
    ['no key', '[]', {}, 401],
    ['a key without the scope', '[]', { 'X-API-Key': 'lt_reader' }, 403],
    ['protobuf', '', { 'X-API-Key': 'lt_writer', 'Content-Type': 'application/x-protobuf' }, 415],
    ['an empty list', '[]', { 'X-API-Key': 'lt_writer' }, 200],
    [
      'deep JSON',
      `[${'['.repeat(20_000)}${']'.repeat(20_000)}]`,
      { 'X-API-Key': 'lt_writer' },
      200,
    ],
  ])('%s: %#', async (_, body, headers, status) => {
    expect((await post(body, headers)).status).toBe(status)
  })
})

/** Written after https://vercel.com/docs/drains/reference/traces, not captured. */
test('a drain of traces of Vercel: spans of the AI SDK between those of the platform', async () => {
  const root = 'aaaaaaaaaaaaaaaa'
  const spans: PlainSpan[] = [
    {
      ...times,
      traceId,
      spanId: root,
      name: 'GET /api/chat',
      kind: 2,
      attributes: plainPairs({ 'http.method': 'GET', 'vercel.request_id': 'iad1::x' }),
    },
    {
      ...times,
      traceId,
      spanId: 'bbbbbbbbbbbbbbbb',
      parentSpanId: root,
      name: 'ai.generateText.doGenerate',
      kind: 1,
      attributes: plainPairs({
        'ai.operationId': 'ai.generateText.doGenerate',
        'gen_ai.system': 'openai.responses',
        'gen_ai.request.model': 'gpt-4.1-mini',
        'gen_ai.usage.input_tokens': 12,
        'gen_ai.usage.output_tokens': 3,
        'ai.telemetry.metadata.sessionId': 'chat-42',
      }),
    },
  ]
  const headers = { 'X-API-Key': 'lt_writer', 'X-Vercel-Signature': 'a'.repeat(40) }
  const rows = await send({ service: 'my-app', scope: 'ai', spans, headers })
  expect(rows.map(({ type }) => type)).toEqual(['span', 'generation'])
  expect(rows[1]).toMatchObject({
    provider: 'openai',
    input_uncached_tokens: 12,
    output_visible_tokens: 3,
    conversation_external_id: 'chat-42',
    parent_observation_id: root,
  })
})

import { brotliCompressSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainFacts } from '../../../../../test/support/exchange-facts.ts'
import { hasSharedFixtures, readFixture } from '../../../../../test/support/shared-fixtures.ts'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import { observationSchema } from '../../../../model/observation.ts'
import { createPricing } from '../../pricing/index.ts'
import { exchangeToObservation } from './exchange-to-records.ts'

const project_id = '0199aaaa-0000-7000-8000-000000000001'
const trace_id = '0199bbbb-0000-7000-8000-000000000002'
const facts: ExchangeFacts = {
  ...plainFacts,
  project_id,
  trace_id,
  end_time: '1790000001500000000',
  request_bytes: 100,
  response_bytes: 200,
  task_id: 'task-1',
  task_name: 'Plan a trip',
  user_id: 'ada',
  environment: 'test',
  release: '1.2.3',
}
const request = {
  model: 'gpt-4o-mini',
  temperature: 0.5,
  messages: [{ role: 'user', content: 'hi' }],
}
const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const reply = {
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage,
}
const context = {
  pricing: createPricing(),
  /** Four characters a token, so that no tokenizer is loaded. */
  countTokens: (text: string) => Math.ceil(text.length / 4),
  response_bytes_max: 1_000_000,
}

type Body = string | Uint8Array | object
const bytesOf = (body: Body) => {
  if (body instanceof Uint8Array) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
function mapped(about: { facts?: Partial<ExchangeFacts>; request?: Body; response?: Body } = {}) {
  const exchange = {
    facts: { ...facts, ...about.facts },
    request: bytesOf(about.request ?? request),
    response: bytesOf(about.response ?? reply),
  }
  return exchangeToObservation(exchange, 'm-1', context)
}
const stream = (...chunks: unknown[]) =>
  chunks.map((chunk) => `data: ${chunk === 'DONE' ? '[DONE]' : JSON.stringify(chunk)}\n\n`).join('')
const streamFacts = { streamed: true, response_type: 'text/event-stream; charset=utf-8' }
const piece = (content: string, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason }],
})

test('a plain call becomes this row', () => {
  const row = mapped()
  expect(row).toEqual({
    project_id,
    trace_id,
    observation_id: '00f067aa0ba902b7',
    parent_observation_id: '',
    type: 'generation',
    name: 'chat gpt-4o-mini',
    start_time: 1_790_000_000_000_000_000n,
    end_time: 1_790_000_001_500_000_000n,
    status: 'ok',
    status_code: 200,
    outcome: 'complete',
    error_type: '',
    error_message: '',
    source: 'proxy',
    contract_version: 'proxy-v1',
    provider: 'openai',
    model_requested: 'gpt-4o-mini',
    model: 'gpt-4o-mini-2024-07-18',
    endpoint: 'chat.completions',
    task_id: 'task-1',
    task_name: 'Plan a trip',
    task_implicit: false,
    conversation_id: '',
    conversation_external_id: '',
    user_id: 'ada',
    environment: 'test',
    release: '1.2.3',
    input: '[{"role":"user","content":"hi"}]',
    output: '[{"role":"assistant","content":"hello"}]',
    content_state: 'full',
    tool_calls: [],
    tool_results: [],
    streamed: false,
    finish_reason: 'stop',
    input_uncached_tokens: 1000,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_visible_tokens: 100,
    reasoning_tokens: 0,
    usage_source: 'provider',
    usage_semantics: 'inclusive',
    cost_usd: '0.00021',
    price_version: expect.stringMatching(/^genai-prices [\d.]+, lists /),
    price_partial: [],
    usage_details: {},
    service_tier: '',
    response_id: '',
    counted_with: '',
    cost_computed_usd: '0.00021',
    cost_reported_usd: null,
    time_to_first_token_ms: null,
    request_bytes: 100,
    response_bytes: 200,
    attributes: { 'request.temperature': '0.5' },
    service_name: '',
    agent_name: '',
    span_kind: '',
    level: '',
    metadata: {},
    mapped_from: '',
    message_id: 'm-1',
  })
  expect(observationSchema.parse(row)).toEqual(row)
})

describe('task and conversation', () => {
  test('without X-Task-ID the trace is the task', () => {
    expect(mapped({ facts: { task_id: '' } })).toMatchObject({
      task_id: trace_id,
      task_implicit: true,
    })
  })

  test('a conversation id that is not a UUID becomes one, of the project', () => {
    const row = mapped({ facts: { conversation_id: 'chat 7' } })
    expect(row.conversation_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/)
    expect(row.conversation_external_id).toBe('chat 7')
    const other = { conversation_id: 'chat 7', project_id: trace_id }
    expect(mapped({ facts: other }).conversation_id).not.toBe(row.conversation_id)
  })

  test('one that is a UUID stays', () => {
    const row = mapped({ facts: { conversation_id: trace_id.toUpperCase() } })
    expect(row).toMatchObject({ conversation_id: trace_id, conversation_external_id: '' })
  })
})

describe('streams', () => {
  test('are assembled; the first token is timed', () => {
    const response = stream(
      { model: 'gpt-4o-mini-2024-07-18', ...piece('hel') },
      piece('lo', 'stop'),
      { choices: [], usage },
      'DONE',
    )
    const first_token_time = '1790000000250000000'
    expect(mapped({ facts: { ...streamFacts, first_token_time }, response })).toMatchObject({
      output: '[{"role":"assistant","content":"hello"}]',
      model: 'gpt-4o-mini-2024-07-18',
      time_to_first_token_ms: 250,
      usage_source: 'provider',
      status: 'ok',
      finish_reason: 'stop',
    })
  })

  test('without usage are counted by us', () => {
    expect(
      mapped({ facts: streamFacts, response: stream(piece('12345678', 'stop'), 'DONE') }),
    ).toMatchObject({
      usage_source: 'estimated',
      usage_semantics: '',
      output_visible_tokens: 2,
      cost_usd: expect.any(String),
    })
  })

  test.each([
    ['without [DONE], but finished', stream(piece('a', 'stop')), 'complete', 'ok'],
    ['without either', stream(piece('a')), 'upstream_cut', 'error'],
    [
      'with an error inside',
      stream(piece('a'), { error: { message: 'm', code: 'c' } }),
      'provider_error',
      'error',
    ],
  ])('%s', (_name, response, outcome, status) => {
    expect(mapped({ facts: streamFacts, response })).toMatchObject({ outcome, status })
  })

  test('that we cut for their length are complete, and their end is read', () => {
    const response = `${stream(piece('a'))}data: {"choi…ent":"x"}}]}\n\n${stream({ choices: [], usage }, 'DONE')}`
    expect(
      mapped({ facts: { ...streamFacts, content_state: 'truncated' }, response }),
    ).toMatchObject({
      outcome: 'complete',
      usage_source: 'provider',
      input_uncached_tokens: 1000,
    })
  })

  test('that the client left are cancelled, with usage estimated from the received part', () => {
    const cancelled = { ...streamFacts, outcome: 'client_gone' as const, status_code: 499 }
    expect(mapped({ facts: cancelled, response: stream(piece('1234')) })).toMatchObject({
      status: 'cancelled',
      outcome: 'client_gone',
      usage_source: 'estimated',
      output_visible_tokens: 1,
      output: '[{"role":"assistant","content":"1234"}]',
    })
  })
})

describe('streams that the client left', () => {
  const left = { ...streamFacts, outcome: 'client_gone' as const }
  const whole = stream(piece('a', 'stop'), 'DONE')

  test('at an error in them are errors of the provider', () => {
    const response = stream(piece('a'), { error: { message: 'too busy', code: 'overloaded' } })
    expect(mapped({ facts: left, response })).toMatchObject({
      status: 'error',
      outcome: 'provider_error',
      error_type: 'overloaded',
    })
  })

  test('at their compressed end are complete', () => {
    const response = gzipSync(whole)
    const compressed = { ...left, response_encoding: 'gzip' }
    expect(mapped({ facts: compressed, response })).toMatchObject({
      status: 'ok',
      outcome: 'complete',
      error_type: '',
    })
  })

  test('before reading the end are cancelled', () => {
    expect(mapped({ facts: left, response: whole })).toMatchObject({ status: 'cancelled' })
  })
})

describe('errors', () => {
  const failed = { outcome: 'provider_error' as const, status_code: 400 }
  test.each([
    [
      'OpenAI',
      { error: { message: 'no such field', type: 'invalid_request_error', code: 'unsupported' } },
      { error_type: 'unsupported', error_message: 'no such field' },
    ],
    [
      'Gemini',
      [{ error: { code: 400, message: 'bad', status: 'INVALID_ARGUMENT' } }],
      { error_type: 'INVALID_ARGUMENT', error_message: 'bad' },
    ],
    [
      'Anthropic',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      { error_type: 'overloaded_error', error_message: 'Overloaded' },
    ],
    [
      'a text',
      { error: 'model not found' },
      { error_type: 'http_400', error_message: 'model not found' },
    ],
    [
      'a flat body',
      { object: 'error', type: 'T', message: 'm' },
      { error_type: 'T', error_message: 'm' },
    ],
    ['a detail', { detail: 'Not Found' }, { error_type: 'http_400', error_message: 'Not Found' }],
    [
      'a page',
      '<html>Bad gateway</html>',
      { error_type: 'http_400', error_message: '<html>Bad gateway</html>' },
    ],
    ['nothing', '', { error_type: 'http_400', error_message: '' }],
  ])('%s', (_name, response, expected) => {
    expect(mapped({ facts: failed, response })).toMatchObject({
      ...expected,
      status: 'error',
      outcome: 'provider_error',
      usage_source: 'none',
      input_uncached_tokens: null,
      cost_usd: null,
      price_version: '',
    })
  })

  test.each([
    ['an empty body', { response_bytes: 0 }, '', 'without a body, status 200'],
    ['status 204', { status_code: 204, response_bytes: 0 }, '', 'without a body, status 204'],
    ['a redirect', { status_code: 302 }, 'moved', 'a redirect, status 302'],
    ['a page', { response_type: 'text/html' }, '<html></html>', 'a page of HTML'],
    ['a page of another type', {}, '<html></html>', 'the answer is not JSON'],
    ['a text', {}, 'ok', 'the answer is not JSON'],
    ['an empty stream', { streamed: true, response_bytes: 0 }, '', 'without a body'],
  ])('%s is an error', (_name, about, response, says) => {
    for (const endpoint of ['chat.completions', 'responses', 'messages', 'embeddings'] as const) {
      expect(mapped({ facts: { ...about, endpoint }, response })).toMatchObject({
        status: 'error',
        outcome: 'provider_error',
        error_type: 'malformed_answer',
        error_message: expect.stringContaining(says),
        usage_source: 'none',
        cost_usd: null,
      })
    }
  })

  test('the proxy’s error is stored when the provider reported none', () => {
    const timeout = {
      outcome: 'timeout' as const,
      error_type: 'provider_timeout',
      error_message: 'm',
    }
    expect(mapped({ facts: timeout, response: '' })).toMatchObject({
      error_type: 'provider_timeout',
      error_message: 'm',
      status: 'error',
    })
  })

  test('a call that we refused used nothing', () => {
    const refused = { outcome: 'refused' as const, status_code: 401, provider: '' }
    expect(mapped({ facts: refused, response: '' })).toMatchObject({
      status: 'error',
      outcome: 'refused',
      usage_source: 'none',
    })
  })

  test('no key of Looptrace or of a provider is kept', () => {
    const key = `lt_abcdefgh_${'x'.repeat(32)}`
    const message = `Incorrect key sk-proj-abcdef123456 and ${key}, header Bearer abc.def-ghi`
    const row = mapped({
      facts: { ...failed, attributes: { 'w3c.baggage': `key=${key}` } },
      request: { ...request, api_key: 'hidden', user: key, extra_headers: { a: 'Bearer x' } },
      response: { error: { message } },
    })
    const kept = JSON.stringify([row.error_message, row.attributes])
    for (const secret of ['lt_abc', 'sk-proj', 'abc.def', 'hidden', 'Bearer x']) {
      expect(kept).not.toContain(secret)
    }
    expect(row.error_message).toContain('Incorrect key')
  })
})

describe('what a client asked', () => {
  test('parameters and tools are attributes, the conversation is input', () => {
    const tools = [{ type: 'function', function: { name: 'weather' } }]
    const row = mapped({ request: { ...request, stop: 'x', tools, stream: true, max_tokens: 5 } })
    expect(row.attributes).toEqual({
      'request.temperature': '0.5',
      'request.stop': 'x',
      'request.tools': JSON.stringify(tools),
      'request.max_tokens': '5',
    })
  })

  test('the results that the call brings are those after the latest answer', () => {
    const result = (tool_call_id: string, content: unknown) => ({
      role: 'tool',
      tool_call_id,
      content,
    })
    const messages = [
      result('old', 'x'),
      { role: 'assistant', tool_calls: [] },
      result('c1', 'sunny'),
      result('c2', [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
      { role: 'user', content: 'so?' },
      result('c3', 'é'.repeat(5000)),
    ]
    expect(mapped({ request: { ...request, messages } }).tool_results).toEqual([
      { tool_call_id: 'c1', content: 'sunny' },
      { tool_call_id: 'c2', content: 'ab' },
      { tool_call_id: 'c3', content: 'é'.repeat(2048) },
    ])
  })

  test('a legacy completion', () => {
    const row = mapped({
      facts: { endpoint: 'completions' },
      request: { model: 'm', prompt: ['a', 'b'] },
      response: { choices: [{ text: 'A' }, { text: 'B', finish_reason: 'length' }] },
    })
    expect(row).toMatchObject({
      name: 'text_completion m',
      input: '["a","b"]',
      output: '["A","B"]',
      finish_reason: 'length',
    })
  })

  test.each([
    ['a cut body', '{"model":"gpt-4o","messages":[{"role":"us', 'gpt-4o'],
    ['no JSON', 'hello', ''],
    ['no object', '[1]', ''],
  ])('%s is kept as text', (_name, text, model_requested) => {
    const row = mapped({ request: text })
    expect(row).toMatchObject({ input: text, model_requested })
    expect(row.attributes['mapping.request']).toBeDefined()
  })
})

describe('what a provider answered', () => {
  test('tool calls of every choice', () => {
    const choice = (id: string) => ({
      message: { tool_calls: [{ id, function: { name: 'f', arguments: '{}' } }] },
      finish_reason: 'tool_use',
    })
    expect(mapped({ response: { choices: [choice('a'), choice('b')] } })).toMatchObject({
      tool_calls: [
        { id: 'a', name: 'f', arguments: '{}' },
        { id: 'b', name: 'f', arguments: '{}' },
      ],
      finish_reason: 'tool_calls',
      attributes: { 'response.choices': '2' },
    })
  })

  test.each([
    ['gzip', gzipSync(JSON.stringify(reply))],
    ['br', brotliCompressSync(JSON.stringify(reply))],
  ])('%s', (response_encoding, response) => {
    expect(mapped({ facts: { response_encoding }, response })).toMatchObject({
      output: '[{"role":"assistant","content":"hello"}]',
    })
  })

  test('a decompression bomb is not unpacked, and the call is recorded', () => {
    const response = gzipSync(Buffer.alloc(2_000_000))
    const row = mapped({ facts: { response_encoding: 'gzip' }, response })
    expect(row).toMatchObject({ output: '', status: 'ok' })
    expect(row.attributes['mapping.response']).toContain('gzip')
  })

  test('an unknown shape is kept unchanged', () => {
    const native = { type: 'message', content: [], usage: { input_tokens: 3, output_tokens: 4 } }
    expect(mapped({ response: native })).toMatchObject({
      output: JSON.stringify(native),
      usage_semantics: 'exclusive',
      input_uncached_tokens: 3,
    })
  })

  test('usage at the end of an answer that we cut is read', () => {
    const response = `{"choices":[{"message":{"content":"aaa${JSON.stringify({ usage }).slice(1)}`
    const row = mapped({ facts: { content_state: 'truncated' }, response })
    expect(row).toMatchObject({ usage_source: 'provider', input_uncached_tokens: 1000 })
  })

  test('usage that can not be believed is estimated and marked', () => {
    const odd = { prompt_tokens: 1, completion_tokens: -5 }
    const row = mapped({ response: { ...reply, usage: odd } })
    expect(row).toMatchObject({ usage_source: 'estimated', output_visible_tokens: 2 })
    expect(row.attributes['mapping.usage']).toBe('not believed: completion_tokens is -5')
  })

  test.each(['1e20', '-1', 'NaN', 'Infinity', '"many"'])(
    'a count of %s is not believed, in any format',
    (count) => {
      const bodies = {
        'chat.completions': `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":${count},"completion_tokens":1}}`,
        messages: `{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":${count},"output_tokens":1}}`,
        responses: `{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":${count},"output_tokens":1}}`,
        generate_content: `{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":${count},"candidatesTokenCount":1}}`,
      } as const
      for (const [endpoint, response] of Object.entries(bodies)) {
        const row = mapped({ facts: { endpoint: endpoint as keyof typeof bodies }, response })
        expect([endpoint, row.outcome, row.usage_source]).toEqual([
          endpoint,
          'complete',
          'estimated',
        ])
        expect(row.output, endpoint).toContain('hi')
        expect(row.attributes['mapping.usage'], endpoint).toMatch(/^not believed: /)
      }
    },
  )

  test('usage at the head of an answer that we cut is read, in any format', () => {
    const rest = `,"data":["${'x'.repeat(20_000)}`
    const heads = {
      embeddings: '"model":"m","usage":{"prompt_tokens":1000,"total_tokens":1000}',
      messages: '"model":"m","usage":{"input_tokens":1000,"output_tokens":0}',
      generate_content:
        '"modelVersion":"m","usageMetadata":{"promptTokenCount":1000,"totalTokenCount":1000}',
    } as const
    for (const [endpoint, head] of Object.entries(heads)) {
      const row = mapped({
        facts: { endpoint: endpoint as keyof typeof heads, content_state: 'truncated' },
        response: `{${head}${rest}`,
      })
      const found = [endpoint, row.usage_source, row.input_uncached_tokens, row.model]
      expect(found).toEqual([endpoint, 'provider', 1000, 'm'])
    }
  })

  test('a total that the counts contradict is marked, and the cost is partial', () => {
    const odd = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_200 }
    const row = mapped({ response: { ...reply, usage: odd } })
    expect(row).toMatchObject({ cost_usd: '0.00021', price_partial: ['total'] })
    expect(row.attributes['mapping.usage']).toBe('the total is 1200, but the counts sum to 1100')
  })

  test.each([
    [
      'in the answer',
      { model: 'gpt-4o-mini' },
      { service_tier: 'priority' },
      'priority',
      '0.00035',
    ],
    ['in the request', { service_tier: 'flex' }, {}, 'flex', '0.000105'],
    [
      'asked, and answered by another',
      { service_tier: 'flex' },
      { service_tier: 'default' },
      'standard',
      '0.00021',
    ],
    ['left to the provider', { service_tier: 'auto' }, {}, '', '0.00021'],
  ])('the service tier %s', (...[, asked, answered, service_tier, cost_usd]) => {
    const row = mapped({ request: { ...request, ...asked }, response: { ...reply, ...answered } })
    expect(row).toMatchObject({ service_tier, cost_usd, price_partial: [] })
  })

  test('the service tier of a stream', () => {
    const chunks = [
      { ...piece('hello', 'stop'), service_tier: 'flex' },
      { choices: [], usage },
    ]
    const row = mapped({ facts: streamFacts, response: stream(...chunks, 'DONE') })
    expect(row).toMatchObject({ service_tier: 'flex', cost_usd: '0.000105' })
  })

  test('advice of another model is priced by that model', () => {
    const steps = [
      { input_tokens: 1_000, output_tokens: 0 },
      { input_tokens: 1_000, output_tokens: 0, model: 'claude-opus-4-8' },
    ]
    const row = mapped({
      facts: { provider: 'anthropic' },
      request: { model: 'claude-sonnet-5', messages: [] },
      response: {
        model: 'claude-sonnet-5',
        usage: { input_tokens: 1_000, output_tokens: 0, iterations: steps },
      },
    })
    expect(row).toMatchObject({ input_uncached_tokens: 2_000, cost_usd: '0.007' })
  })

  test('the cost that OpenRouter reports is kept next to ours', () => {
    const costs = { cost: 0.0001, is_byok: true, cost_details: { upstream_inference_cost: 0.002 } }
    const row = mapped({ response: { ...reply, usage: { ...usage, ...costs } } })
    expect(row).toMatchObject({
      cost_usd: '0.00021',
      cost_computed_usd: '0.00021',
      cost_reported_usd: '0.0021',
    })
  })

  test('names for PostgreSQL hold no NUL', () => {
    expect(mapped({ response: { ...reply, model: 'a\u0000b' } }).model).toBe('ab')
  })
})

test('a clock that was set back causes no negative duration', () => {
  const row = mapped({
    facts: { end_time: '1789999999000000000', first_token_time: '1789999999000000000' },
  })
  expect(row.end_time).toBe(row.start_time)
  expect(row.time_to_first_token_ms).toBe(0)
})

test('nesting of any depth is survived', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const row = mapped({
    request: `{"model":"m","messages":${deep},"tools":${deep}}`,
    response: `{"choices":[{"message":{"content":${deep}}}]}`,
  })
  expect(row.model_requested).toBe('m')
  expect(row.input.length).toBeGreaterThan(0)
})

test('any bodies make a valid row', () => {
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
    fc
      .jsonValue()
      .map((value) =>
        Buffer.from(JSON.stringify({ messages: value, prompt: value, tools: value })),
      ),
    fc
      .jsonValue()
      .map((value) =>
        Buffer.from(JSON.stringify({ choices: [value], usage: value, error: value })),
      ),
    fc
      .jsonValue()
      .map((value) => Buffer.from(JSON.stringify({ choices: [{ message: value }], usage }))),
    fc.string().map((text) => Buffer.from(`data: ${text}\n\n`)),
  )
  const some = fc.record({
    streamed: fc.boolean(),
    outcome: fc.constantFrom('complete', 'provider_error', 'client_gone', 'upstream_cut'),
    response_encoding: fc.constantFrom('', 'gzip', 'zstd', 'br', 'deflate', 'x'),
    content_state: fc.constantFrom('full', 'truncated', 'dropped'),
    endpoint: fc.constantFrom('chat.completions', 'completions'),
  }) as fc.Arbitrary<Partial<ExchangeFacts>>
  fc.assert(
    fc.property(some, body, body, (about, asked, answered) => {
      const row = mapped({ facts: about, request: asked, response: answered })
      expect(observationSchema.safeParse(row).error).toBeUndefined()
    }),
    { numRuns: fuzzRuns(1_000) },
  )
})

type Report = {
  'X-Provider': string
  model: string
  usage: Record<string, unknown> & { _service_tier?: string }
}

/** Usage that other systems price wrongly, with the right values of their list. */
describe.runIf(hasSharedFixtures)('usage after public reports', () => {
  test.each([
    ['p-flex', '0.005', null],
    ['p-priority', '0.0035', null],
    ['p-cache1h', '0.06045', null],
    ['p-reported-cost', '0.00123', '0.00123'],
  ])('%s', (name, cost_usd, cost_reported_usd) => {
    const report = readFixture<Report>(`reports/${name}.usage.json`)
    const { _service_tier: service_tier, ...counts } = report.usage
    const row = mapped({
      facts: { provider: report['X-Provider'] },
      request: { ...request, model: report.model },
      response: { ...reply, model: report.model, usage: counts, service_tier },
    })
    expect(row).toMatchObject({ cost_usd, cost_reported_usd, price_partial: [] })
  })
})

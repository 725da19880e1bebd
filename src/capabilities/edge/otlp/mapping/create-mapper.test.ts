import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noPrice } from '../../../../../test/support/no-cost.ts'
import {
  mapAttributes,
  mappedRequest,
  mapSpans,
  onlyOne,
  otlpAttributes,
  otlpEvent,
  otlpLink,
  otlpRequest,
  otlpSpan,
  pairsFrom,
  spanStart,
  testMapper,
  textFrom,
  traceOne,
} from '../../../../../test/support/otlp-spans.ts'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import { conversationIdFrom } from '../../../../kernel/ids.ts'
import type { OtlpLogRecord, OtlpValue } from '../contract.ts'
import { currentContract } from './contracts/registry.ts'

const long = 'ü'.repeat(40_000)

describe('a span of the current conventions', () => {
  const messages = Buffer.from(
    JSON.stringify([
      { role: 'user', parts: [{ type: 'text', content: 'What is the weather in Bonn, please?' }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c0', response: { t: 20 } }] },
    ]),
  )
  const answer = Buffer.from(
    JSON.stringify([
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Bonn' } }],
        finish_reason: 'tool_call',
      },
    ]),
  )
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.model': 'gpt-4o-2024-08-06',
    'gen_ai.input.messages': messages,
    'gen_ai.output.messages': answer,
    'gen_ai.response.finish_reasons': ['tool_call'],
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 3,
    'gen_ai.conversation.id': 'chat/1',
    'app.tenant': 'acme',
  }

  test('becomes an observation', () => {
    const draft = mapAttributes(attributes, {
      resource: { 'service.name': 'shop', 'service.version': '1.2', 'process.pid': 7 },
      scope: 'opentelemetry.instrumentation.openai',
    })
    expect(draft).toMatchObject({
      type: 'generation',
      provider: 'openai',
      model_requested: 'gpt-4o',
      model: 'gpt-4o-2024-08-06',
      span_kind: 'client',
      status: 'ok',
      finish_reason: 'tool_calls',
      content_state: 'full',
      service_name: 'shop',
      release: '1.2',
      conversation_id: conversationIdFrom(mappedRequest.project_id, 'chat/1').conversation_id,
      conversation_external_id: 'chat/1',
      task_id: traceOne,
      task_implicit: true,
      tool_calls: [{ id: 'c1', name: 'weather', arguments: '{"city":"Bonn"}' }],
      tool_results: [{ tool_call_id: 'c0', content: '{"t":20}' }],
    })
    expect(pairsFrom(draft.attributes)).toEqual({
      'resource.service.name': 'shop',
      'resource.service.version': '1.2',
      'otel.scope.name': 'opentelemetry.instrumentation.openai',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.response.model': 'gpt-4o-2024-08-06',
      'gen_ai.response.finish_reasons': '["tool_call"]',
      'gen_ai.usage.input_tokens': '12',
      'gen_ai.usage.output_tokens': '3',
      'gen_ai.conversation.id': 'chat/1',
      'app.tenant': 'acme',
    })
  })

  test('keeps its content as the bytes received', () => {
    const draft = mapAttributes(attributes)
    expect(draft.output).toBe(answer)
    expect(textFrom(draft.input)).toBe(messages.toString())
    const instructed = mapAttributes({
      ...attributes,
      'gen_ai.system_instructions': '[{"type":"text","content":"Be kind"}]',
    })
    const [system, ...rest] = JSON.parse(textFrom(instructed.input))
    expect(system).toEqual({ role: 'system', parts: [{ type: 'text', content: 'Be kind' }] })
    expect(rest).toEqual(JSON.parse(messages.toString()))
  })

  test('is priced when no cost was reported, with the price table named', () => {
    const asked: unknown[] = []
    const mapper = testMapper({
      pricing: (call, usage) => {
        asked.push([call, usage?.buckets.input_uncached_tokens])
        const cost_usd = usage === undefined ? null : '0.5'
        return { ...noPrice(), cost_usd, price_version: 'test' }
      },
    })
    const map = (more: Record<string, OtlpValue>) =>
      onlyOne(
        mapper.traces(otlpRequest([otlpSpan({ ...attributes, ...more })]), mappedRequest).records
          .observations,
      )
    expect(map({})).toMatchObject({ cost_usd: '0.5', price_version: 'test' })
    const call = { provider: 'openai', model: 'gpt-4o-2024-08-06', model_requested: 'gpt-4o' }
    const at_ms = Number(spanStart / 1_000_000n)
    const more = { service_tier: '', reported_usd: undefined }
    expect(asked).toEqual([[{ ...call, ...more, at_ms }, 12]])
    map({ cost_usd: 2, 'openai.response.service_tier': 'flex' })
    expect(asked[1]).toMatchObject([{ reported_usd: '2', service_tier: 'flex' }, 12])
    expect(map({ 'gen_ai.operation.name': 'invoke_agent' }).cost_usd).toBeNull()
    expect(asked[2]).toMatchObject([{}, undefined])
  })
})

describe('other conventions', () => {
  test('OpenInference messages are gathered with their tool calls', () => {
    const draft = mapAttributes({
      'openinference.span.kind': 'LLM',
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.contents.0.message_content.type': 'text',
      'llm.input_messages.0.message.contents.0.message_content.text': 'Hi',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'c1',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'find',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"q":1}',
      'input.value': 'raw',
    })
    expect(JSON.parse(textFrom(draft.input))).toEqual([
      { role: 'user', contents: [{ type: 'text', text: 'Hi' }] },
    ])
    expect(draft.tool_calls).toEqual([{ id: 'c1', name: 'find', arguments: '{"q":1}' }])
    expect(pairsFrom(draft.attributes)).toEqual({ 'openinference.span.kind': 'LLM' })
    expect(draft.mapped_from).toContain('|lost:input.value')
  })

  test('the old GenAI names: indexed prompts, gen_ai.system, prompt_tokens', () => {
    const draft = mapAttributes({
      'gen_ai.system': 'Anthropic',
      'llm.request.type': 'chat',
      'gen_ai.request.model': 'claude-3',
      'gen_ai.prompt.1.role': 'tool',
      'gen_ai.prompt.1.tool_call_id': 'c0',
      'gen_ai.prompt.1.content': 'found',
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'find it',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.finish_reason': 'tool_use',
      'gen_ai.completion.0.tool_calls.0.id': 'c1',
      'gen_ai.completion.0.tool_calls.0.name': 'find',
      'gen_ai.completion.0.tool_calls.0.arguments': '{}',
      'gen_ai.usage.prompt_tokens': 5,
      'gen_ai.usage.completion_tokens': 6,
    })
    expect(draft).toMatchObject({
      type: 'generation',
      provider: 'anthropic',
      input_uncached_tokens: 5,
      output_visible_tokens: 6,
      finish_reason: 'tool_calls',
      tool_calls: [{ id: 'c1', name: 'find', arguments: '{}' }],
      tool_results: [{ tool_call_id: 'c0', content: 'found' }],
    })
    expect(JSON.parse(textFrom(draft.input))).toEqual([
      { role: 'user', content: 'find it' },
      { role: 'tool', tool_call_id: 'c0', content: 'found' },
    ])
  })

  test('events hold the messages', () => {
    const events = [
      otlpEvent('gen_ai.user.message', { content: 'Hi' }),
      otlpEvent('gen_ai.choice', { index: 0, message: '{"content":"Ho"}' }),
    ]
    const { observations, events: drafts } = mapSpans([otlpSpan({}, { events })])
    const draft = onlyOne(observations)
    expect(JSON.parse(textFrom(draft.input))).toEqual([{ content: 'Hi', role: 'user' }])
    expect(JSON.parse(textFrom(draft.output))).toMatchObject([{ role: 'assistant', index: 0 }])
    expect(drafts.map(({ event_id, name, body }) => [event_id, name, body])).toEqual([
      ['0', 'gen_ai.user.message', 'Hi'],
      ['1', 'gen_ai.choice', '{"content":"Ho"}'],
    ])
  })

  test.each([
    ['ai.generateText', 'ai', 'chain'],
    ['ai.streamText.doStream', 'ai', 'generation'],
    ['ai.embed.doEmbed', 'ai', 'embedding'],
    ['ai.toolCall', 'ai', 'tool'],
    ['ai.toolCall', 'other', 'span'],
  ])('operation %s of scope %s is %s', (operation, scope, type) => {
    expect(mapAttributes({ 'ai.operationId': operation }, { scope }).type).toBe(type)
  })

  test('a template of Logfire is replaced by the text that it sends beside it', () => {
    const name = 'Chat with {gen_ai.request.model!r}'
    const nameOf = (attributes: Record<string, string>) =>
      mapAttributes(attributes, { span: { name } }).name
    expect(nameOf({ 'logfire.msg': "Chat with 'gpt-4o'" })).toBe("Chat with 'gpt-4o'")
    expect(nameOf({})).toBe(name)
  })

  test('the content state of a span that was sent without content is `none`, not `dropped`', () => {
    expect(mapAttributes({ 'gen_ai.operation.name': 'chat' }).content_state).toBe('none')
  })

  test('model and usage make a generation, a model alone does not', () => {
    expect(mapAttributes({ 'llm.model_name': 'm', 'llm.token_count.prompt': 1 }).type).toBe(
      'generation',
    )
    expect(mapAttributes({ 'llm.model_name': 'm' }).type).toBe('span')
  })

  test('the id of a response is read in the whole answer of OpenInference', () => {
    const idOf = (answer: unknown, scope = 'openinference.instrumentation.openai') =>
      mapAttributes({ 'output.value': JSON.stringify(answer) }, { scope }).response_id
    expect(idOf({ id: 'resp_1', output: [] })).toBe('resp_1')
    expect(idOf({ model_version: 'gemini-2.5-flash', response_id: 'r1' })).toBe('r1')
    const message = { kwargs: { response_metadata: { id: 'msg_1' }, id: 'lc_run--1' } }
    expect(idOf({ generations: [[{ message }]] })).toBe('msg_1')
    expect(idOf({ id: 'resp_1' }, 'another')).toBe('')
    expect(idOf('in words')).toBe('')
  })

  const idOfConversation = (attributes: Record<string, string>, scope = 'another') => {
    const draft = mapAttributes({ 'gen_ai.operation.name': 'chat', ...attributes }, { scope })
    const previous = pairsFrom(draft.attributes)['request.previous_response_id']
    return [draft.conversation_external_id, previous ?? '']
  }

  test.each<[string, Record<string, string>, string]>([
    ['its own answer is one of Responses', { 'gen_ai.response.id': 'resp_2' }, 'another'],
    ['Agent Framework reports it', {}, 'agent_framework'],
  ])('the response before is not taken for a conversation: %s', (_, more, scope) => {
    for (const id of [
      'resp_1',
      'resp_67ccd2bed1ec8190b14f964abc054267',
      'resp_bGl0ZWxsbTpjdXN0b20=',
    ]) {
      const attributes = { 'gen_ai.conversation.id': id, ...more }
      expect(idOfConversation(attributes, scope)).toEqual(['', id])
    }
  })

  test.each<[string, Record<string, string>]>([
    ['the client uses another API', { 'gen_ai.conversation.id': 'resp_7' }],
    [
      'the answer is one of Chat Completions',
      { 'gen_ai.conversation.id': 'resp_7', 'gen_ai.response.id': 'chatcmpl-1' },
    ],
    [
      'it has another form than a response',
      { 'gen_ai.conversation.id': 'resp_team-7', 'gen_ai.response.id': 'resp_2' },
    ],
    [
      'the application names its session',
      { 'session.id': 'resp_7', 'gen_ai.response.id': 'resp_2' },
    ],
  ])('a conversation whose id begins with resp_ is kept: %s', (_, attributes) => {
    const given = attributes['gen_ai.conversation.id'] ?? attributes['session.id']
    expect(idOfConversation(attributes)).toEqual([given, ''])
  })

  test('the log of a stream of Logfire is the call, and not the span of its request', () => {
    const asked = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5-mini' }
    const answer = { 'gen_ai.output.messages': '[]', 'gen_ai.usage.input_tokens': 5 }
    const typeOf = (more: Record<string, OtlpValue>, status_code = 0) =>
      mapAttributes({ ...asked, ...more }, { span: { status_code } }).type
    expect(typeOf({ 'logfire.span_type': 'span' })).toBe('span')
    expect(typeOf({ 'logfire.span_type': 'log', ...answer })).toBe('generation')
    expect(typeOf({ 'logfire.span_type': 'span', ...answer })).toBe('generation')
    expect(typeOf({ 'logfire.span_type': 'span' }, 2)).toBe('generation')
    expect(typeOf({})).toBe('generation')
  })

  test("a tool's span is the call that it names", () => {
    const draft = mapAttributes({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'find',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.tool.call.arguments': '{"q":1}',
      'gen_ai.tool.call.result': 'found',
    })
    expect(draft).toMatchObject({
      type: 'tool',
      tool_calls: [{ id: 'c1', name: 'find', arguments: '{"q":1}' }],
      tool_results: [{ tool_call_id: 'c1', content: 'found' }],
    })
  })

  test("labels of the client's own are metadata, known fields are not", () => {
    const draft = mapAttributes({
      'langfuse.observation.metadata.team': 'blue',
      'traceloop.association.properties.user_id': 'ada',
      'traceloop.association.properties.plan': 'pro',
      'ai.telemetry.metadata.flag': true,
    })
    expect(pairsFrom(draft.metadata)).toEqual({ team: 'blue', plan: 'pro', flag: 'true' })
    expect(draft.user_id).toBe('ada')
  })
})

describe('errors', () => {
  const exception = otlpEvent('exception', {
    'exception.type': 'TimeoutError',
    'exception.message': 'too slow',
  })
  const error = { status: 'error', error_type: '', error_message: '' }
  const thrown = { error_type: 'TimeoutError', error_message: 'too slow' }
  test.each([
    {
      name: 'status 2',
      span: { status_code: 2, status_message: 'boom' },
      is: { ...error, error_message: 'boom' },
    },
    { name: 'an exception', span: { events: [exception] }, is: { ...error, ...thrown } },
    {
      name: 'an exception in a span that is set to OK',
      span: { events: [exception], status_code: 1 },
      is: { status: 'ok', ...thrown },
    },
    { name: 'error.type', said: { 'error.type': '429' }, is: { ...error, error_type: '429' } },
    { name: 'http 503', said: { 'http.response.status_code': 503 }, is: error },
    { name: 'http 200', said: { 'http.response.status_code': 200 }, is: { status: 'ok' } },
    { name: 'level', said: { 'langfuse.observation.level': 'ERROR' }, is: error },
  ])('$name', ({ said = {}, span = {}, is }) => {
    const { observations, events } = mapSpans([otlpSpan(said, span)])
    expect(onlyOne(observations)).toMatchObject(is)
    expect(events.every(({ level }) => level === 'error')).toBe(true)
  })
})

describe('times and places', () => {
  test('an end before the start is the start; no start is the time of arrival', () => {
    const early = mapAttributes({}, { span: { end_time: spanStart - 1n } })
    expect(early.end_time).toBe(spanStart)
    expect(early.mapped_from).toContain('|default:end_time')
    const ended = mapAttributes({}, { span: { start_time: 0n, end_time: 5n } })
    expect(ended).toMatchObject({ start_time: 5n, end_time: 5n })
    const none = mapAttributes({}, { span: { start_time: 0n, end_time: 0n } })
    expect(none.start_time).toBe(BigInt(mappedRequest.received_at_ms) * 1_000_000n)
    expect(none.mapped_from).toContain('|default:start_time,end_time')
  })

  test('a span without a known parent keeps its parent id', () => {
    const draft = mapAttributes({}, { span: { parent_span_id: 'aaaaaaaaaaaaaaaa' } })
    expect(draft.parent_observation_id).toBe('aaaaaaaaaaaaaaaa')
  })

  test('links and counts of what was dropped are kept', () => {
    const other = '0198c0de-0000-7000-8000-0000000000ff'
    const span = otlpSpan(
      {},
      { links: [otlpLink(other, 'bbbbbbbbbbbbbbbb')], dropped_events_count: 2 },
    )
    const { links, observations } = mapSpans([span])
    expect(onlyOne(links)).toMatchObject({
      link_id: '0',
      linked_trace_id: other,
      linked_observation_id: 'bbbbbbbbbbbbbbbb',
      attributes: ['why', 'retry'],
    })
    expect(onlyOne(observations).attributes).toEqual(['otel.dropped_events_count', '2'])
  })

  test('a trace has one traceparent, of its root; tracestate and baggage are found', () => {
    const child = otlpSpan(
      { 'baggage.tenant': 'a c' },
      { span_id: 'cccccccccccccccc', parent_span_id: '00f067aa0ba902b7', trace_state: 'v=1' },
    )
    const { correlations } = mapSpans([child, otlpSpan({}, { flags: 0x301 })])
    expect(correlations.map((one) => [one.correlation_type, one.correlation_value])).toEqual([
      ['w3c_traceparent', `00-${traceOne.replaceAll('-', '')}-00f067aa0ba902b7-01`],
      ['w3c_tracestate', 'v=1'],
      ['w3c_baggage', 'tenant=a%20c'],
    ])
    const about = { ...mappedRequest, baggage: 'k=v' }
    const { records } = testMapper().traces(otlpRequest([otlpSpan()]), about)
    expect(records.correlations[1]).toMatchObject({ correlation_value: 'k=v' })
  })

  test('a span has what its nearest ancestors know, and nothing of other spans', () => {
    const span = (id: string, parent: string, attributes: Record<string, OtlpValue> = {}) =>
      otlpSpan(attributes, { span_id: id.repeat(16), parent_span_id: parent.repeat(16) })
    const { observations } = mapSpans([
      span('1', '', { 'user.id': 'root', 'looptrace.task.id': 't1', 'looptrace.task.name': 'T' }),
      span('2', '1', { 'user.id': 'two', 'session.id': 's' }),
      span('3', '2'),
      span('4', '9'),
    ])
    expect(observations.map((one) => [one.user_id, one.conversation_external_id])).toEqual([
      ['root', ''],
      ['two', 's'],
      ['two', 's'],
      ['', ''],
    ])
    expect(observations.map((one) => [one.task_id, one.task_name, one.task_implicit])).toEqual([
      ...Array.from({ length: 3 }, () => ['t1', 'T', false]),
      [observations[3]?.trace_id, '', true],
    ])
  })

  test('trace-level fields make a record of the trace', () => {
    const { traces } = mapSpans([
      otlpSpan({ 'langfuse.trace.name': 'Order', 'langfuse.trace.input': 'in', 'user.id': 'ada' }),
    ])
    expect(onlyOne(traces)).toMatchObject({ name: 'Order', input: 'in', user_id: 'ada' })
    expect(mapSpans([otlpSpan()]).traces).toEqual([])
  })
})

describe('bounds', () => {
  test('a long attribute is cut between characters, and counted', () => {
    const draft = mapAttributes({ long: Buffer.from(`x${long}`) })
    const { long: kept = '', ...rest } = pairsFrom(draft.attributes)
    expect(Buffer.byteLength(kept)).toBe(65_535)
    expect(kept.endsWith('ü')).toBe(true)
    expect(rest).toEqual({ 'mapping.cut': '1' })
  })

  test('a long name is cut, and one with NUL is cleaned', () => {
    expect(mapAttributes({}, { span: { name: `a\u0000${'b'.repeat(2_000)}` } }).name).toBe(
      `a${'b'.repeat(1_023)}`,
    )
  })

  test('content over the limit is truncated', () => {
    const mapper = testMapper({ content_bytes_max: 10 })
    const { records } = mapper.traces(
      otlpRequest([otlpSpan({ 'input.value': 'x'.repeat(11), 'output.value': 'ok' })]),
      mappedRequest,
    )
    expect(onlyOne(records.observations)).toMatchObject({
      input: Buffer.from('x'.repeat(10)),
      output: 'ok',
      content_state: 'truncated',
      mapped_from: expect.stringContaining('|cut:input'),
    })
  })

  test('a row has at most 256 attributes, and names some that were dropped', () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at]))
    const pairs = pairsFrom(mapAttributes(many).attributes)
    expect(Object.keys(pairs)).toHaveLength(258)
    expect(pairs).toMatchObject({
      'mapping.dropped': '44',
      'mapping.dropped_keys': 'k256,k257,k258,k259,k260',
    })
  })

  test.each([
    '__proto__',
    'a.constructor.b',
    'prototype',
    'gen_ai.prompt.9999999.content',
    'llm.input_messages.0.message.tool_calls.1000.tool_call.id',
    'llm.output_messages.0.__proto__.polluted',
    'http.request.header.authorization',
    'ai.request.headers.X-Api-Key',
    'gen_ai.prompt.0.cookie',
    'authorization',
  ])('%s is dropped and reported', (key) => {
    const attributes = otlpAttributes({})
    attributes.keys.push(key)
    attributes.values.push('bad')
    const span = { ...otlpSpan(), attributes }
    const draft = onlyOne(mapSpans([span]).observations)
    expect(draft.input).toBe('')
    expect(draft.attributes).toEqual(['mapping.dropped', '1', 'mapping.dropped_keys', key])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('logs', () => {
  const record = (given: Partial<OtlpLogRecord> = {}): OtlpLogRecord => ({
    trace_id: traceOne,
    span_id: '00f067aa0ba902b7',
    time: spanStart,
    observed_time: 0n,
    event_name: 'gen_ai.choice',
    severity_number: 9,
    severity_text: '',
    body: { map: otlpAttributes({ index: 0 }) },
    attributes: otlpAttributes({ 'gen_ai.system': 'openai' }),
    dropped_attributes_count: 0,
    flags: 0,
    ...given,
  })
  const map = (items: OtlpLogRecord[]) => testMapper().logs(otlpRequest(items), mappedRequest)

  test('a GenAI event becomes an event of its span, with the same id when sent again', () => {
    const { records } = map([record()])
    expect(onlyOne(records.events)).toMatchObject({
      observation_id: '00f067aa0ba902b7',
      name: 'gen_ai.choice',
      body: '{"index":0}',
      attributes: ['gen_ai.system', 'openai'],
      level: 'default',
    })
    expect(map([record()]).records.events).toEqual(records.events)
    const other = map([record({ body: 'x' })]).records.events
    expect(other[0]?.event_id).not.toBe(records.events[0]?.event_id)
  })

  test.each([
    [9, 'fatal', 'default'],
    [21, '', 'error'],
    [0, 'WARN', 'warning'],
    [0, 'Info2', 'default'],
    [0, 'loud', ''],
    [0, '', ''],
  ])('the severity %i "%s" is the level "%s"', (severity_number, severity_text, level) => {
    const { events } = map([record({ severity_number, severity_text })]).records
    expect(onlyOne(events).level).toBe(level)
  })

  test('content in attributes becomes the body', () => {
    const event_name = 'gen_ai.client.inference.operation.details'
    const attributes = otlpAttributes({ 'gen_ai.input.messages': '[1]', 'gen_ai.system': 'x' })
    const { records } = map([record({ event_name, attributes, body: null })])
    expect(onlyOne(records.events)).toMatchObject({
      body: '[1]',
      attributes: ['gen_ai.system', 'x'],
    })
  })

  test('others are rejected, by reason', () => {
    const { records, rejected } = map([
      record({ event_name: 'http.request' }),
      record({ event_name: '' }),
      record({ trace_id: '', span_id: '' }),
    ])
    expect(records.events).toEqual([])
    expect([...rejected]).toEqual([
      ['not_a_genai_event', 2],
      ['no_trace_id', 1],
    ])
  })
})

test('the mapper executes its contract: a changed copy maps differently', () => {
  const contract = structuredClone(currentContract)
  expect(JSON.parse(JSON.stringify(contract))).toEqual(currentContract)
  const changed = {
    ...contract,
    version: 'test-v2',
    span_level: {
      ...contract.span_level,
      fields: {
        ...contract.span_level.fields,
        model: {
          reads: 'text' as const,
          sources: [{ from: 'attribute' as const, key: 'my.model' }],
        },
      },
    },
    w3c_propagation: { ...contract.w3c_propagation, traceparent: 'x=other_parent' },
  }
  const { records } = testMapper({ contract: changed }).traces(
    otlpRequest([otlpSpan({ 'my.model': 'm', 'gen_ai.response.model': 'n' })]),
    mappedRequest,
  )
  expect(onlyOne(records.observations)).toMatchObject({ model: 'm', contract_version: 'test-v2' })
  expect(records.correlations[0]?.correlation_type).toBe('other_parent')
})

test("a source with a condition on the span's type must be read after the attributes", () => {
  const key = 'gen_ai.tool.call.arguments'
  const input = {
    reads: 'content' as const,
    sources: [{ from: 'attribute' as const, key, of_types: ['tool'] }],
  }
  const { span_level } = currentContract
  const fields = { ...span_level.fields, input }
  const contract = { ...currentContract, span_level: { ...span_level, fields } }
  expect(() => testMapper({ contract })).toThrow(
    `${key}@tool: the type of the span is not known yet when "attribute"`,
  )
})

test('arguments of any depth are kept or dropped without an error', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const part = `{"type":"tool_call","id":"c","name":"t","arguments":${deep}}`
  const messages = `[{"role":"tool","parts":[${part}]}]`
  const chat = mapAttributes({
    'gen_ai.operation.name': 'chat',
    'gen_ai.output.messages': Buffer.from(messages),
  })
  expect(chat.tool_calls).toMatchObject([{ id: 'c', name: 't' }])
  const tool = mapAttributes({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 't',
    'gen_ai.input.messages': Buffer.from(messages),
  })
  expect(tool.tool_calls).toMatchObject([{ name: 't' }])
})

const anyText = fc.oneof(fc.string(), fc.constantFrom('', '[', '{"a":', '[{"type":"tool_call"}]'))
const { value: anyValue } = fc.letrec<{ value: OtlpValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    anyText,
    anyText.map((text) => Buffer.from(text.padEnd(64, '"tool"'))),
    fc.double(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 4 }).map((bytes) => ({ bytes })),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom('role', 'id', '__proto__', 'name'), tie('value')), {
        maxLength: 3,
      })
      .map((pairs) => ({
        map: { keys: pairs.map(([key]) => key), values: pairs.map(([, value]) => value) },
      })),
  ),
}))
const everyKey = [currentContract.trace_level, currentContract.span_level]
  .flatMap(({ fields }) => Object.values(fields))
  .flatMap(({ sources }) => sources)
  .flatMap((source) => {
    if (source.from === 'attributes') return [...source.keys]
    if (source.from === 'indexed') return [`${source.key}.0`, `${source.key}.0.content`]
    return 'key' in source ? [source.key] : []
  })

test('no value throws, and texts of columns are bounded', () => {
  const anyAttributes = fc
    .array(fc.tuple(fc.constantFrom(...everyKey, 'x', 'exception.type', 'content'), anyValue), {
      maxLength: 12,
    })
    .map((pairs) => ({
      keys: pairs.map(([key]) => key),
      values: pairs.map(([, value]) => value),
    }))
  const name = fc.constantFrom('exception', 'gen_ai.choice', 'gen_ai.tool.message', 'x')
  fc.assert(
    fc.property(anyAttributes, anyAttributes, name, (attributes, inEvent, event) => {
      const events = [{ ...otlpEvent(event), attributes: inEvent }]
      const span = { ...otlpSpan(), attributes, events }
      const request = otlpRequest([span], { scope: 'ai' })
      for (const group of request.groups) group.resource.attributes = inEvent
      const draft = onlyOne(testMapperOnce.traces(request, mappedRequest).records.observations)
      expect(draft.model.length).toBeLessThanOrEqual(256)
      expect(draft.task_id.length).toBeLessThanOrEqual(256)
      for (const text of [...draft.attributes, ...draft.metadata, draft.input, draft.output]) {
        expect(typeof text === 'string' || text instanceof Uint8Array).toBe(true)
      }
    }),
    { numRuns: fuzzRuns(600) },
  )
})

const testMapperOnce = testMapper()

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { IngestRecords, ObservationDraft, Text } from '../../../model/ingest-records.ts'
import { applyCapture, refusalOf } from './apply-capture.ts'
import { compilePolicy } from './compile-policy.ts'
import type { CaptureRules, Mask } from './contract.ts'

const project_id = '01900000-0000-7000-8000-000000000001'
const trace_id = '01900000-0000-7000-8000-00000000000a'

/** Records that have the text in every field that a client can fill freely. */
function recordsWith(text: Text, about: { trace_id?: string } = {}): IngestRecords {
  const string = typeof text === 'string' ? text : Buffer.from(text).toString()
  const pairs = [string, text, 'k', text]
  const place = { project_id, trace_id, ...about }
  const context = {
    task_id: string,
    task_name: string,
    conversation_id: '',
    conversation_external_id: string,
    user_id: string,
    environment: string,
    release: string,
  }
  const content = { input: text, output: text }
  const rest = { time: 1n, source: 'api' } as const
  return {
    traces: [{ ...place, ...context, ...content, ...rest, name: string, metadata: pairs }],
    observations: [observationWith({ ...place, ...context, ...content }, string, pairs)],
    events: [
      {
        ...place,
        ...rest,
        observation_id: 'o1',
        event_id: '0',
        name: string,
        level: '',
        body: text,
        attributes: pairs,
      },
    ],
    links: [
      {
        ...place,
        ...rest,
        observation_id: 'o1',
        link_id: '0',
        linked_trace_id: trace_id,
        linked_observation_id: '',
        attributes: pairs,
      },
    ],
    correlations: [
      {
        ...place,
        ...rest,
        observation_id: 'o1',
        correlation_type: 'order',
        correlation_value: string,
        metadata: pairs,
      },
    ],
  }
}

function observationWith(
  about: Pick<ObservationDraft, 'project_id' | 'trace_id' | 'input' | 'output' | 'task_id'> &
    Omit<IngestRecords['traces'][number], 'name' | 'metadata' | 'time' | 'source'>,
  text: string,
  pairs: Text[],
): ObservationDraft {
  return {
    ...about,
    observation_id: 'o1',
    parent_observation_id: '',
    type: 'generation',
    name: text,
    start_time: 1n,
    end_time: 2n,
    status: 'error',
    status_code: 500,
    outcome: '',
    error_type: text,
    error_message: text,
    source: 'api',
    contract_version: 'v1',
    provider: text,
    model_requested: text,
    model: text,
    endpoint: text,
    task_implicit: false,
    service_name: text,
    agent_name: text,
    span_kind: '',
    level: '',
    content_state: 'full',
    tool_calls: [{ id: text, name: text, arguments: text }],
    tool_results: [{ tool_call_id: text, content: text }],
    streamed: false,
    finish_reason: text,
    input_uncached_tokens: 1,
    cache_read_tokens: null,
    cache_write_tokens: null,
    output_visible_tokens: 2,
    reasoning_tokens: null,
    usage_source: 'provider',
    usage_semantics: '',
    cost_usd: null,
    price_partial: [],
    usage_details: {},
    service_tier: '',
    response_id: '',
    counted_with: '',
    cost_computed_usd: null,
    cost_reported_usd: null,
    price_version: '',
    time_to_first_token_ms: null,
    request_bytes: 1,
    response_bytes: 1,
    attributes: pairs,
    metadata: pairs,
    mapped_from: '',
  }
}

/** Records of which only what is content, or may quote it, has the text. */
function quoting(text: Text, key: string): IngestRecords {
  const string = typeof text === 'string' ? text : Buffer.from(text).toString()
  const records = recordsWith('x')
  const attributes = [key, text, 'http.method', 'POST']
  const content = { input: text, output: text }
  return {
    traces: records.traces.map((trace) => ({ ...trace, ...content })),
    observations: records.observations.map((observation) => ({
      ...observation,
      ...content,
      attributes,
      error_message: string,
      tool_calls: [{ id: 'c', name: 'f', arguments: string }],
      tool_results: [{ tool_call_id: 'c', content: string }],
    })),
    events: records.events.map((event) => ({ ...event, body: text, attributes })),
    links: records.links.map((link) => ({ ...link, attributes })),
    correlations: records.correlations.map((correlation) => ({
      ...correlation,
      correlation_type: 'w3c_baggage',
      correlation_value: string,
    })),
  }
}

function policyOf(rules: Partial<CaptureRules>) {
  return compilePolicy({ content: 'full', sample_rate: 1, masks: [], ...rules })
}

function mask(about: Partial<Mask>): Mask {
  return { name: 'm', pattern: null, keys: null, replacement: '[masked:m]', ...about }
}

const utf8 = (text: string) => new TextEncoder().encode(text)

/** Everything in the records as one text, bytes read as UTF-8. */
function flat(records: unknown): string {
  return JSON.stringify(records, (_key, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return value instanceof Uint8Array ? Buffer.from(value).toString() : value
  })
}

test('the default policy keeps the records unchanged', () => {
  const records = recordsWith('x')
  expect(applyCapture(policyOf({}), records)).toEqual({ records, rejected: {}, masked: 0 })
  expect(applyCapture(policyOf({}), records).records).toBe(records)
})

describe('masks', () => {
  const emails = policyOf({ masks: [mask({ pattern: '[a-z]+@[a-z]+\\.example' })] })
  const shapes: ((secret: string) => Text)[] = [
    (secret) => secret,
    (secret) => `before ${secret} after`,
    (secret) => utf8(`größer ${secret}`),
    (secret) => JSON.stringify({ [secret]: [secret, { deep: JSON.stringify({ secret }) }] }),
    (secret) => utf8(JSON.stringify([secret]).replaceAll('@', '\\u0040')),
  ]

  test('a secret survives in no field of any record', () => {
    const name = fc.stringMatching(/^[a-z]{1,12}$/)
    fc.assert(
      fc.property(name, name, fc.constantFrom(...shapes), (user, host, shape) => {
        const secret = `${user}@${host}.example`
        const before = recordsWith(shape(secret))
        const copy = structuredClone(before)
        const { records, masked, rejected } = applyCapture(emails, before)
        const text = flat(records).replaceAll('\\\\', '\\').replaceAll('\\u0040', '@')
        expect(text).not.toContain(secret)
        expect(text).toContain('[masked:m]')
        expect([masked, rejected]).toEqual([1, {}])
        expect(before).toEqual(copy)
      }),
      { numRuns: 300 },
    )
  })

  test('records without masked content stay the same objects, bytes included', () => {
    const records = recordsWith(utf8('nothing here'))
    const captured = applyCapture(emails, records)
    expect(captured.masked).toBe(0)
    expect(captured.records.observations[0]).toBe(records.observations[0])
    expect(captured.records.traces[0]).toBe(records.traces[0])
  })

  test('keys mask attributes, metadata, JSON members and correlations', () => {
    const policy = policyOf({ masks: [mask({ keys: ['Token', 'order'] })] })
    const before = recordsWith(JSON.stringify({ token: 'SECRET', other: 1 }))
    const [observation] = before.observations
    if (observation) observation.attributes = ['TOKEN', 'SECRET', 'kept', 'x']
    const { records } = applyCapture(policy, before)
    expect(flat(records)).not.toContain('SECRET')
    expect(records.observations[0]?.attributes).toEqual(['TOKEN', '[masked:m]', 'kept', 'x'])
    expect(records.correlations[0]?.correlation_value).toBe('[masked:m]')
    expect(records.observations[0]?.input).toBe('{"token":"[masked:m]","other":1}')
  })

  test('an item counts once, also when only a dependent record changed', () => {
    const before = recordsWith('plain')
    const [event] = before.events
    if (event) event.body = 'a@b.example'
    expect(applyCapture(emails, before).masked).toBe(1)
    expect(applyCapture(emails, before, ['events']).masked).toBe(1)
    const all = ['traces', 'observations', 'events', 'links', 'correlations'] as const
    expect(applyCapture(emails, recordsWith('a@b.example'), all).masked).toBe(5)
  })
})

describe('metadata_only', () => {
  const policy = policyOf({ content: 'metadata_only' })

  test('leaves out content and keeps measurements', () => {
    const before = recordsWith('SAID')
    const [observation] = before.observations
    if (observation) {
      observation.name = 'chat'
      observation.tool_calls = [{ id: 'c', name: 'search', arguments: 'SAID' }]
      observation.attributes = [
        ...['gen_ai.prompt.0.content', 'SAID', 'llm.input_messages.0', 'SAID'],
        ...['request.tools', 'SAID', 'request.temperature', '0.5', 'http.method', 'POST'],
      ]
    }
    const { records, masked, rejected } = applyCapture(policy, before)
    const [kept] = records.observations
    expect(kept).toMatchObject({
      input: '',
      output: '',
      content_state: 'dropped',
      tool_calls: [{ id: 'c', name: 'search', arguments: '' }],
      tool_results: [{ content: '' }],
      attributes: ['request.temperature', '0.5', 'http.method', 'POST'],
      input_uncached_tokens: 1,
      output_visible_tokens: 2,
      model: 'SAID',
    })
    expect(records.events[0]?.body).toBe('')
    expect(records.traces[0]).toMatchObject({ input: '', output: '' })
    expect([masked, rejected]).toEqual([1, {}])
  })

  const places = ['exception.message', 'exception.stacktrace', 'error.message', 'w3c.baggage']
  const contentKeys = ['gen_ai.input.messages', 'request.tools', 'llm.prompts.0.content', ...places]

  test('no text of the content survives, not even quoted', () => {
    const quotes = [
      (said: string) => said,
      (said: string) => utf8(said),
      (said: string) => `400: the prompt "${said}" is not allowed`,
      (said: string) => JSON.stringify({ messages: [{ role: 'user', content: said }] }),
    ]
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.constantFrom(...quotes),
        fc.constantFrom(...contentKeys),
        (said, quote, key) => {
          const text = quote(said)
          const { records, rejected } = applyCapture(policy, quoting(text, key))
          expect(flat(records)).not.toContain(said)
          expect(rejected).toEqual({})
          expect(records.observations[0]).toMatchObject({ error_type: 'x', name: 'x' })
          expect(records.correlations).toEqual([])
        },
      ),
    )
  })

  test('baggage that is an item of its own is counted as rejected', () => {
    const items = ['observations', 'correlations'] as const
    const { rejected } = applyCapture(policy, quoting('said', 'body'), items)
    expect(rejected).toEqual({ content_not_kept: 1 })
    const { records } = applyCapture(policy, recordsWith('x'))
    expect(records.correlations).toHaveLength(1)
  })

  test('does not mark records without content as dropped', () => {
    const before = recordsWith('')
    const [observation] = before.observations
    if (observation) observation.attributes = ['http.method', 'POST']
    const { records, masked } = applyCapture(policy, { ...before, events: [], links: [] })
    expect([masked, records.observations[0]?.content_state]).toEqual([0, 'full'])
  })
})

test('off keeps nothing and counts the items', () => {
  const { records, rejected, masked } = applyCapture(policyOf({ content: 'off' }), recordsWith('x'))
  expect(Object.values(records).flat()).toEqual([])
  expect([rejected, masked]).toEqual([{ capture_off: 1 }, 0])
})

describe('sampling', () => {
  const ids = Array.from({ length: 4_000 }, (_, i) => {
    return `01900000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`
  })

  test.each([0, 0.1, 0.5, 1])(
    'keeps about a share of %d, and the same traces each time',
    (rate) => {
      const policy = policyOf({ sample_rate: rate })
      const kept = ids.filter((id) => refusalOf(policy, id) === undefined)
      expect(kept.length / ids.length).toBeGreaterThanOrEqual(rate - 0.04)
      expect(kept.length / ids.length).toBeLessThanOrEqual(rate + 0.04)
      expect(kept).toEqual(
        ids.filter((id) => refusalOf(policyOf({ sample_rate: rate }), id) === undefined),
      )
    },
  )

  test('a trace that a low rate keeps is kept by every higher one', () => {
    const few = ids.filter((id) => refusalOf(policyOf({ sample_rate: 0.2 }), id) === undefined)
    expect(few.filter((id) => refusalOf(policyOf({ sample_rate: 0.6 }), id))).toEqual([])
  })

  test('keeps or drops whole traces, and counts each item', () => {
    const policy = policyOf({ sample_rate: 0.5 })
    const all = ids.slice(0, 100).map((id) => recordsWith('x', { trace_id: id }))
    const together: IngestRecords = {
      traces: all.flatMap(({ traces }) => traces),
      observations: all.flatMap(({ observations }) => observations),
      events: all.flatMap(({ events }) => events),
      links: all.flatMap(({ links }) => links),
      correlations: all.flatMap(({ correlations }) => correlations),
    }
    const { records, rejected } = applyCapture(policy, together)
    const kept = records.observations.map((record) => record.trace_id)
    expect(kept.length + (rejected['sampled'] ?? 0)).toBe(100)
    expect(kept.length).toBeGreaterThan(20)
    for (const kind of ['traces', 'events', 'links', 'correlations'] as const) {
      expect(records[kind].map((record) => record.trace_id)).toEqual(kept)
    }
  })
})

import { describe, expect, test } from 'vitest'
import { OtlpDecodeError, type OtlpRequest, type OtlpSpan, type OtlpValue } from '../../contract.ts'
import { defaultDecodeLimits } from '../tally.ts'
import { jsonDecoder } from './decoder.ts'

const decoder = jsonDecoder()
const traceId = '5b8efff798038103d269b633813fc60c'
const spanId = 'eee19b7ec3c1b174'
const ids = { traceId, spanId }
const uuid = '5b8efff7-9803-8103-d269-b633813fc60c'

describe('names and forms', () => {
  test('may be those of the .proto files', () => {
    const attributes = [
      { key: 'a', value: { string_value: 'text' } },
      { key: 'b', value: { int_value: '7' } },
      {
        key: 'c',
        value: { kvlist_value: { values: [{ key: 'd', value: { bool_value: true } }] } },
      },
      { key: 'e', value: { array_value: { values: [{ double_value: 0.5 }] } } },
      { key: 'f', value: { bytes_value: 'AAE=' } },
    ]
    const span = {
      trace_id: traceId,
      span_id: spanId,
      parent_span_id: spanId,
      trace_state: 'a=b',
      start_time_unix_nano: '1',
      end_time_unix_nano: '2',
      dropped_attributes_count: 3,
      dropped_events_count: 4,
      dropped_links_count: 5,
      attributes,
      events: [{ time_unix_nano: '6', name: 'e', dropped_attributes_count: 1 }],
      links: [{ trace_id: traceId, span_id: spanId, trace_state: 'c=d' }],
    }
    const scope_spans = [{ scope: { name: 's' }, spans: [span], schema_url: 'https://s' }]
    const resource = { attributes, dropped_attributes_count: 9 }
    const body = { resource_spans: [{ resource, scope_spans, schema_url: 'https://r' }] }
    const [group] = decoder.traces(Buffer.from(JSON.stringify(body))).groups
    expect(group?.resource).toMatchObject({ dropped_attributes_count: 9, schema_url: 'https://r' })
    expect(group?.scope).toMatchObject({ name: 's', schema_url: 'https://s' })
    expect(group?.items[0]).toMatchObject({
      trace_id: uuid,
      parent_span_id: spanId,
      trace_state: 'a=b',
      start_time: 1n,
      end_time: 2n,
      dropped_attributes_count: 3,
      dropped_events_count: 4,
      dropped_links_count: 5,
      events: [{ time: 6n, name: 'e', dropped_attributes_count: 1 }],
      links: [{ trace_id: uuid, span_id: spanId, trace_state: 'c=d' }],
    })
    expect(group?.items[0]?.attributes.values).toEqual([
      'text',
      7,
      { map: { keys: ['d'], values: [true] } },
      [0.5],
      { bytes: Buffer.from([0, 1]) },
    ])
  })

  test('ids are hex of any case', () => {
    const span = spanOf({ traceId: traceId.toUpperCase(), spanId: spanId.toUpperCase() })
    expect([span.trace_id, span.span_id]).toEqual([uuid, spanId])
  })

  test('base64 ids are accepted with a warning', () => {
    const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
    const span = { traceId: base64(traceId), spanId: base64(spanId), parentSpanId: base64(spanId) }
    const request = decode([span, span])
    const expected = { trace_id: uuid, span_id: spanId, parent_span_id: spanId }
    expect(request.groups[0]?.items).toMatchObject([expected, expected])
    expect(request.warnings).toEqual(new Map([['base64_id', 6]]))
  })

  test.each([
    [3, 3],
    ['3', 3],
    ['SPAN_KIND_CLIENT', 3],
    ['SPAN_KIND_UNSPECIFIED', 0],
    ['SPAN_KIND_OTHER', 0],
    [9, 0],
    [{}, 0],
  ])('a kind may be %j', (kind, expected) => {
    expect(spanOf({ ...ids, kind }).kind).toBe(expected)
  })

  test('a status may have the name of its code', () => {
    const status = { code: 'STATUS_CODE_ERROR', message: 'no' }
    expect(spanOf({ ...ids, status })).toMatchObject({ status_code: 2, status_message: 'no' })
  })

  test.each([
    ['1767571200000000001', 1767571200000000001n],
    ['18446744073709551615', 2n ** 64n - 1n],
    [1_000, 1_000n],
    ['', 0n],
    [null, 0n],
  ])('a time may be %j', (startTimeUnixNano, expected) => {
    expect(spanOf({ ...ids, startTimeUnixNano }).start_time).toBe(expected)
  })
})

describe('values', () => {
  test.each<[object | null, OtlpValue]>([
    [{ intValue: '9007199254740991' }, 2 ** 53 - 1],
    [{ intValue: '9007199254740993' }, 2n ** 53n + 1n],
    [{ intValue: '-9223372036854775808' }, -(2n ** 63n)],
    [{ intValue: -5 }, -5],
    [{ intValue: '-0' }, 0],
    [{ doubleValue: 'NaN' }, Number.NaN],
    [{ doubleValue: '-Infinity' }, Number.NEGATIVE_INFINITY],
    [{ doubleValue: 'Infinity' }, Number.POSITIVE_INFINITY],
    [{ doubleValue: '1.5' }, 1.5],
    [{ boolValue: false }, false],
    [{ stringValue: '' }, ''],
    [{ stringValue: 'x'.repeat(100_000) }, 'x'.repeat(100_000)],
    [{ arrayValue: {} }, []],
    [{ arrayValue: { values: [{}, null, { stringValue: 'a' }] } }, [null, null, 'a']],
    [{ kvlistValue: {} }, { map: { keys: [], values: [] } }],
    [{ other: 1, stringValue: 'a' }, 'a'],
    [{}, null],
    [null, null],
  ])('%j is accepted', (value, expected) => {
    const request = decode([{ ...ids, attributes: [{ key: 'a', value }] }])
    expect(request.groups[0]?.items[0]?.attributes.values).toEqual([expected])
    expect(request.warnings.size).toBe(0)
  })

  test.each([
    { intValue: 'seven' },
    { intValue: '9223372036854775808' },
    { intValue: 1.5 },
    { intValue: [] },
    { doubleValue: 'much' },
    { doubleValue: '' },
    { boolValue: 'true' },
    { stringValue: 7 },
    { bytesValue: 7 },
    'text',
    7,
    [],
  ])('%j is null, with a warning', (value) => {
    const request = decode([{ ...ids, attributes: [{ key: 'a', value }] }])
    expect(request.groups[0]?.items[0]?.attributes).toEqual({ keys: ['a'], values: [null] })
    expect(request.warnings).toEqual(new Map([['wrong_type', 1]]))
  })

  test('that are nested deeper than 32 levels become text', () => {
    const open = '{"arrayValue":{"values":['
    const nested = (levels: number) =>
      `${open.repeat(levels)}{"stringValue":"leaf"}${']}}'.repeat(levels)}`
    const body = (value: string) =>
      Buffer.from(
        `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${traceId}","spanId":"${spanId}",` +
          `"attributes":[{"key":"a","value":${value}}]}]}]}]}`,
      )
    for (const [levels, depth, leaf] of [
      [32, 32, 'leaf'],
      [33, 33, '[too deep]'],
      [100_000, 33, '[too deep]'],
    ] as const) {
      let value = decoder.traces(body(nested(levels))).groups[0]?.items[0]?.attributes.values[0]
      let seen = 0
      for (; Array.isArray(value); seen++) value = value[0]
      expect([seen, value]).toEqual([depth, leaf])
    }
  })
})

describe('a fault in one span', () => {
  test.each([
    [{ spanId }, 'invalid_trace_id', 'trace_id is missing'],
    [{ ...ids, traceId: 7 }, 'invalid_trace_id', 'trace_id is of type number, not 32 hex digits'],
    [
      { ...ids, traceId: '5b8e' },
      'invalid_trace_id',
      'trace_id has 4 characters, not 32 hex digits',
    ],
    [{ ...ids, traceId: '0'.repeat(32) }, 'invalid_trace_id', 'trace_id is all zero, or not hex'],
    [{ ...ids, traceId: 'g'.repeat(32) }, 'invalid_trace_id', 'trace_id is all zero, or not hex'],
    [
      { ...ids, traceId: `${'A'.repeat(22)}==` },
      'invalid_trace_id',
      'trace_id has 24 characters, not 32 hex digits',
    ],
    [{ traceId }, 'invalid_span_id', 'span_id is missing'],
    [{ ...ids, spanId: [] }, 'invalid_span_id', 'span_id is of type object, not 16 hex digits'],
    [
      { ...ids, startTimeUnixNano: 'now' },
      'invalid_time',
      'start_time_unix_nano is not a whole number of nanoseconds',
    ],
    [
      { ...ids, endTimeUnixNano: -1 },
      'invalid_time',
      'end_time_unix_nano is not a whole number of nanoseconds',
    ],
    [
      { ...ids, endTimeUnixNano: '18446744073709551616' },
      'invalid_time',
      'end_time_unix_nano is not a whole number of nanoseconds',
    ],
    [null, 'invalid_item', 'the span is not an object'],
    ['text', 'invalid_item', 'the span is not an object'],
    [[], 'invalid_item', 'the span is not an object'],
  ])('rejects only that span: %j', (bad, reason, detail) => {
    const request = decode([ids, bad, ids])
    expect(request.groups[0]?.items).toHaveLength(2)
    expect(request.items).toBe(3)
    expect(request.rejected).toEqual(new Map([[reason, 1]]))
    expect(request.first_rejection).toBe(`item 2: ${detail}`)
  })

  test('is dropped where the field is optional', () => {
    const request = decode([
      {
        ...ids,
        parentSpanId: 'no',
        name: 7,
        flags: -1,
        attributes: [7, { key: 7 }, { value: { stringValue: 'a' } }, { key: 'b' }],
        events: ['e', { timeUnixNano: {}, name: [] }],
        links: [{ traceId, spanId: 'no' }, 7],
        status: 'bad',
        droppedEventsCount: 'many',
      },
      { ...ids, attributes: {}, events: 1, links: true },
    ])
    expect(request.rejected.size).toBe(0)
    expect(request.groups[0]?.items[0]).toMatchObject({
      parent_span_id: '',
      name: '',
      flags: 0,
      attributes: { keys: ['', 'b'], values: ['a', null] },
      events: [{ time: 0n, name: '' }],
      links: [],
      dropped_events_count: 0,
    })
    expect([...request.warnings.keys()].toSorted()).toEqual([
      'invalid_link_id',
      'invalid_parent_id',
      'invalid_time',
      'wrong_type',
    ])
  })
})

test('keys that reach a prototype are dropped', () => {
  const bad = ['__proto__', 'constructor', 'prototype']
  const values = [...bad, 'ok'].map((key) => ({ key, value: { intValue: 1 } }))
  const attributes = [...values, { key: 'map', value: { kvlistValue: { values } } }]
  const request = decode([{ ...ids, attributes }])
  expect(request.groups[0]?.items[0]?.attributes).toEqual({
    keys: ['ok', 'map'],
    values: [1, { map: { keys: ['ok'], values: [1] } }],
  })
  expect(request.warnings).toEqual(new Map([['forbidden_key', 6]]))
  const polluted = '{"__proto__":{"polluted":1},"resourceSpans":[{"__proto__":{"spans":[]}}]}'
  expect(decoder.traces(Buffer.from(polluted)).items).toBe(0)
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
})

test('limits cut and count', () => {
  const small = jsonDecoder({
    ...defaultDecodeLimits,
    attributes_per_item: 1,
    events_per_span: 1,
    links_per_span: 1,
    items_per_request: 2,
  })
  const attributes = ['a', 'b', 'c'].map((key) => ({ key }))
  const span = { ...ids, attributes, events: [{}, {}], links: [ids, ids], droppedLinksCount: 2 }
  const request = small.traces(bodyOf([span, ids, ids]))
  expect(request.groups[0]?.items).toHaveLength(2)
  expect(request.groups[0]?.items[0]).toMatchObject({
    attributes: { keys: ['a'] },
    dropped_attributes_count: 2,
    dropped_events_count: 1,
    dropped_links_count: 3,
  })
  expect(request.rejected).toEqual(new Map([['too_many_items', 1]]))

  const few = jsonDecoder({ ...defaultDecodeLimits, values_per_request: 2 })
  const list = { key: 'a', value: { arrayValue: { values: [{}, {}, {}] } } }
  const bounded = few.traces(bodyOf([{ ...ids, attributes: [list] }, ids]))
  expect(bounded.groups[0]?.items[0]?.attributes.values).toEqual([[null]])
  expect(bounded.rejected).toEqual(new Map([['too_many_items', 1]]))
})

describe('a body', () => {
  test.each([
    ['', /^the body is not valid JSON: /],
    ['{"resourceSpans":', /^the body is not valid JSON: /],
    ['{"a":NaN}', /NaN and Infinity are written as text/],
    ['{"a":Infinity}', /NaN and Infinity are written as text/],
    ['[]', /^the body is JSON, but not an object/],
    ['null', /^the body is JSON, but not an object/],
    ['"text"', /^the body is JSON, but not an object/],
    ['{"resourceSpans":{}}', /^resourceSpans: expected a list, got object/],
    [`${'['.repeat(100_000)}`, /^the body is not valid JSON: /],
  ])('is rejected: %.30j', (text, message) => {
    expect(() => decoder.traces(Buffer.from(text))).toThrow(OtlpDecodeError)
    expect(() => decoder.traces(Buffer.from(text))).toThrow(message)
  })

  test.each([
    '{}',
    '{"resourceSpans":[]}',
    '{"resourceSpans":null}',
    '{"resourceSpans":[7,{"scopeSpans":[null,7]}]}',
    '{"other":{"a":1}}',
  ])('may be empty: %s', (text) => {
    expect(decoder.traces(Buffer.from(text))).toMatchObject({ groups: [], items: 0 })
  })

  test('has a limit on objects and lists, which bounds memory', () => {
    const small = jsonDecoder({ ...defaultDecodeLimits, json_openings_per_request: 7 })
    expect(small.traces(bodyOf([ids])).items).toBe(1)
    expect(() => small.traces(bodyOf([ids, ids]))).toThrow(
      'expected at most 7 objects and lists, got 8',
    )
  })

  test('may begin with a byte order mark; invalid UTF-8 is replaced', () => {
    const body = bodyOf([{ ...ids, name: 'caf?' }])
    const latin1 = Buffer.from(body.toString().replace('caf?', 'caf\u00e9'), 'latin1')
    const request = decoder.traces(Buffer.concat([Buffer.from('\ufeff'), latin1]))
    expect(request.groups[0]?.items[0]?.name).toBe('caf\ufffd')
    expect(request.warnings).toEqual(new Map([['invalid_utf8', 1]]))
  })
})

test('log records are read, without ids when those are invalid', () => {
  const eventName = { key: 'event.name', value: { stringValue: 'gen_ai.choice' } }
  const logRecords = [
    { ...ids, timeUnixNano: '5', body: { kvlistValue: {} }, attributes: [eventName] },
    { traceId: 'no', spanId, event_name: 'own', severityNumber: 'SEVERITY_NUMBER_WARN2' },
    { observedTimeUnixNano: 'no' },
    7,
  ]
  const body = { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }
  const request = decoder.logs(Buffer.from(JSON.stringify(body)))
  expect(request.groups[0]?.items).toMatchObject([
    { trace_id: uuid, span_id: spanId, time: 5n, event_name: 'gen_ai.choice' },
    { trace_id: '', span_id: '', event_name: 'own', severity_number: 14, body: null },
  ])
  expect([...request.rejected]).toEqual([
    ['invalid_time', 1],
    ['invalid_item', 1],
  ])
  expect([...request.warnings.keys()]).toEqual(['invalid_trace_id', 'span_id_without_trace_id'])
})

function bodyOf(spans: unknown[]): Buffer {
  return Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))
}

function decode(spans: unknown[]): OtlpRequest<OtlpSpan> {
  return decoder.traces(bodyOf(spans))
}

function spanOf(span: unknown): OtlpSpan {
  const item = decode([span]).groups[0]?.items[0]
  if (item === undefined) throw new Error('the span is rejected')
  return item
}

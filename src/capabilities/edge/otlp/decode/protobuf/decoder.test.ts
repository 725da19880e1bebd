import { describe, expect, test } from 'vitest'
import {
  keyValueOf,
  lengthFieldOf,
  nestedValue,
  requestWith,
  spanIdBytes,
  spanWith,
  traceIdBytes,
  varintFieldOf,
} from '../../../../../../test/support/otlp-wire.ts'
import { OtlpDecodeError, type OtlpSpan, type OtlpValue } from '../../contract.ts'
import { defaultDecodeLimits } from '../tally.ts'
import { protobufDecoder } from './decoder.ts'

const decoder = protobufDecoder()
const replaced = '\ufffd'

describe('a span', () => {
  test('has its ids as text, and no parent when none is sent', () => {
    const span = spanOf(spanWith())
    expect(span.trace_id).toBe('5b8efff7-9803-8103-d269-b633813fc60c')
    expect(span.span_id).toBe('eee19b7ec3c1b174')
    expect(span.parent_span_id).toBe('')
  })

  test('keeps 64-bit integers exact', () => {
    const time = Buffer.from([0x39, ...Array(8).fill(0xff)])
    expect(spanOf(spanWith(time)).start_time).toBe(2n ** 64n - 1n)
    expect(readValue(Buffer.from([0x18, ...Array(9).fill(0xff), 1]))).toBe(-1)
    expect(readValue(Buffer.from([0x18, ...Array(9).fill(0x80), 1]))).toBe(-(2n ** 63n))
    expect(readValue(varintFieldOf(3, 2 ** 53 - 1))).toBe(2 ** 53 - 1)
    expect(readValue(varintFieldOf(3, 2 ** 53))).toBe(2n ** 53n)
  })

  test('keeps flags beyond 8 bits', () => {
    expect(spanOf(spanWith(Buffer.from([0x85, 0x01, 1, 3, 0, 0x80]))).flags).toBe(0x8000_0301)
  })

  test('with an unknown kind or status has neither, with a warning', () => {
    const request = decoder.traces(
      requestWith(spanWith(varintFieldOf(6, 9), lengthFieldOf(15, varintFieldOf(3, 3)))),
    )
    expect(request.groups[0]?.items[0]).toMatchObject({ kind: 0, status_code: 0 })
    expect(request.warnings).toEqual(
      new Map([
        ['unknown_span_kind', 1],
        ['unknown_status_code', 1],
      ]),
    )
  })
})

describe('ids', () => {
  const traceId = lengthFieldOf(1, traceIdBytes)
  const spanId = lengthFieldOf(2, spanIdBytes)
  test.each([
    ['no trace id', [spanId], 'invalid_trace_id', 'trace_id is missing'],
    [
      'a short one',
      [lengthFieldOf(1, spanIdBytes), spanId],
      'invalid_trace_id',
      'trace_id has 8 bytes, not 16',
    ],
    [
      'one of zeros',
      [lengthFieldOf(1, Buffer.alloc(16)), spanId],
      'invalid_trace_id',
      'trace_id is all zero',
    ],
    ['no span id', [traceId], 'invalid_span_id', 'span_id is missing'],
    [
      'a long span id',
      [traceId, lengthFieldOf(2, traceIdBytes)],
      'invalid_span_id',
      'span_id has 16 bytes, not 8',
    ],
    [
      'a span id of zeros',
      [traceId, lengthFieldOf(2, Buffer.alloc(8))],
      'invalid_span_id',
      'span_id is all zero',
    ],
  ])('with %s reject only their span', (_name, fields, reason, detail) => {
    const request = decoder.traces(requestWith(spanWith(), Buffer.concat(fields), spanWith()))
    expect(request.groups[0]?.items).toHaveLength(2)
    expect(request.items).toBe(3)
    expect(request.rejected).toEqual(new Map([[reason, 1]]))
    expect(request.first_rejection).toBe(`item 2: ${detail}`)
  })

  test('of a parent or a link are dropped when they are invalid', () => {
    const link = (id: Buffer) =>
      lengthFieldOf(13, lengthFieldOf(1, traceIdBytes), lengthFieldOf(2, id))
    const request = decoder.traces(
      requestWith(
        spanWith(lengthFieldOf(4, Buffer.alloc(8)), link(traceIdBytes), link(spanIdBytes)),
        spanWith(lengthFieldOf(4, '')),
      ),
    )
    expect(request.groups[0]?.items.map((span) => span.parent_span_id)).toEqual(['', ''])
    expect(request.groups[0]?.items[0]?.links).toHaveLength(1)
    expect(request.warnings).toEqual(
      new Map([
        ['invalid_parent_id', 1],
        ['invalid_link_id', 1],
      ]),
    )
  })
})

describe('text', () => {
  test('is a view of the body from 64 bytes on, a string below', () => {
    const body = requestWith(spanWith(attribute('a', lengthFieldOf(1, 'x'.repeat(64)))))
    const value = decoder.traces(body).groups[0]?.items[0]?.attributes.values[0]
    expect(value).toEqual(Buffer.from('x'.repeat(64)))
    expect((value as Buffer).buffer).toBe(body.buffer)
    expect(readValue(lengthFieldOf(1, 'x'.repeat(63)))).toBe('x'.repeat(63))
  })

  test.each([
    ['short', Buffer.from([0x61, 0xff]), `a${replaced}`],
    [
      'of 63 bytes',
      Buffer.concat([Buffer.alloc(62, 'x'), Buffer.from([0xc3])]),
      `${'x'.repeat(62)}${replaced}`,
    ],
    [
      'long',
      Buffer.concat([Buffer.alloc(99, 'x'), Buffer.from([0xc3])]),
      `${'x'.repeat(99)}${replaced}`,
    ],
  ])('with invalid UTF-8 is replaced when it is %s', (_name, bytes, mended) => {
    const request = decoder.traces(
      requestWith(spanWith(lengthFieldOf(5, bytes), attribute(bytes, lengthFieldOf(1, bytes)))),
    )
    const span = request.groups[0]?.items[0]
    expect(span?.name).toBe(mended)
    expect(span?.attributes.keys).toEqual([mended])
    expect(String(span?.attributes.values[0])).toBe(mended)
    expect(request.warnings).toEqual(new Map([['invalid_utf8', 3]]))
  })

  test('that has a replacement character of its own is left alone', () => {
    const request = decoder.traces(requestWith(spanWith(lengthFieldOf(5, `a${replaced}`))))
    expect(request.groups[0]?.items[0]?.name).toBe(`a${replaced}`)
    expect(request.warnings.size).toBe(0)
  })
})

describe('messages that come in parts', () => {
  test('are merged, and the last scalar wins', () => {
    const span = spanOf(
      spanWith(
        lengthFieldOf(5, 'first'),
        lengthFieldOf(15, varintFieldOf(3, 2), lengthFieldOf(2, 'a')),
        lengthFieldOf(5, 'second'),
        lengthFieldOf(15, lengthFieldOf(2, 'b')),
      ),
    )
    expect(span).toMatchObject({ name: 'second', status_code: 2, status_message: 'b' })
  })

  test('are merged in lists and maps; another kind of value replaces them', () => {
    const list = (text: string) => lengthFieldOf(5, lengthFieldOf(1, lengthFieldOf(1, text)))
    const map = (key: string) => lengthFieldOf(6, lengthFieldOf(1, lengthFieldOf(1, key)))
    expect(readValue(Buffer.concat([list('a'), list('b')]))).toEqual(['a', 'b'])
    expect(readValue(Buffer.concat([map('a'), map('b')]))).toEqual({
      map: { keys: ['a', 'b'], values: [null, null] },
    })
    expect(readValue(Buffer.concat([list('a'), map('b')]))).toEqual({
      map: { keys: ['b'], values: [null] },
    })
    expect(readValue(Buffer.concat([map('b'), list('a')]))).toEqual(['a'])
  })

  test('may name their resource and their scope after the spans', () => {
    const name = keyValueOf('service.name', lengthFieldOf(1, 'a'))
    const scopeSpans = [lengthFieldOf(2, spanWith()), lengthFieldOf(1, lengthFieldOf(1, 'scope'))]
    const body = lengthFieldOf(
      1,
      lengthFieldOf(2, ...scopeSpans),
      lengthFieldOf(1, lengthFieldOf(1, name)),
    )
    const [group] = decoder.traces(body).groups
    expect(group?.resource.attributes).toEqual({ keys: ['service.name'], values: ['a'] })
    expect(group?.scope.name).toBe('scope')
  })
})

describe('unknown fields', () => {
  const group = (levels: number) =>
    Buffer.concat([
      ...Array.from({ length: levels }, () => Buffer.from([0xf3, 0x07])),
      varintFieldOf(1, 7),
      ...Array.from({ length: levels }, () => Buffer.from([0xf4, 0x07])),
    ])
  test.each([
    ['varint', Buffer.from([0xf0, 0x07, 0xff, 0x01])],
    ['64 bits', Buffer.from([0xf1, 0x07, 1, 2, 3, 4, 5, 6, 7, 8])],
    ['length', lengthFieldOf(126, 'text')],
    ['32 bits', Buffer.from([0xf5, 0x07, 1, 2, 3, 4])],
    ['group', group(1)],
    ['nested groups', group(32)],
  ])('are skipped: %s', (_name, field) => {
    const value = Buffer.concat([field, lengthFieldOf(1, 'v'), field])
    const span = spanOf(spanWith(field, attribute('a', value), field))
    expect(span.attributes).toEqual({ keys: ['a'], values: ['v'] })
  })

  test.each([
    ['33 nested groups', group(33), /more than 32 nested groups/],
    ['a group without an end', Buffer.from([0xf3, 0x07]), /group 126 does not end/],
    ['the end of another group', Buffer.from([0xf3, 0x07, 0xec, 0x07]), /the end of another group/],
    ['an end alone', Buffer.from([0xf4, 0x07]), /expected wire type 0, 1, 2, 3 or 5, got 4/],
    ['wire type 6', Buffer.from([0xf6, 0x07]), /got 6/],
    ['wire type 7', Buffer.from([0xf7, 0x07]), /got 7/],
    ['field number 0', Buffer.from([0x02, 0x00]), /a field number from 1/],
    ['a tag of 64 bits', Buffer.alloc(9, 0xff), /is incomplete/],
  ])('are rejected: %s', (_name, field, message) => {
    expect(() => spanOf(spanWith(field))).toThrow(OtlpDecodeError)
    expect(() => spanOf(spanWith(field))).toThrow(message)
  })
})

test.each([
  [
    'a length beyond the message',
    Buffer.from([0x2a, 0x02, 0x61]),
    /^Span\.name at byte 36: the length is 2 bytes, but the message has 1 left/,
  ],
  [
    'a length of 64 bits',
    Buffer.from([0x2a, ...Array(9).fill(0xff), 0x01]),
    /^Span\.name at byte 45: the length is more than 4294967295/,
  ],
  [
    'a varint of 11 bytes',
    Buffer.from([0x30, ...Array(11).fill(0xff)]),
    /^Span\.kind at byte 35: expected a varint of at most 64 bits/,
  ],
  [
    'a varint of 70 bits',
    Buffer.from([0x30, ...Array(9).fill(0xff), 0x7f]),
    /^Span\.kind at byte 35: expected a varint of at most 64 bits/,
  ],
  [
    'a varint without an end',
    Buffer.from([0x30, 0xff]),
    /^Span\.kind at byte 35: the varint is incomplete/,
  ],
  [
    'a time cut off',
    Buffer.from([0x39, 1, 2, 3, 4, 5, 6, 7]),
    /^Span\.start_time_unix_nano at byte 35: expected 8 bytes, but the message has 7 left/,
  ],
  [
    'a name that is a number',
    varintFieldOf(5, 1),
    /^Span field 5 at byte 35: wire type 0 does not fit the field/,
  ],
])('%s is an error with its position', (_name, field, message) => {
  expect(() => decoder.traces(requestWith(spanWith(field)))).toThrow(message)
})

describe('limits', () => {
  test('values nested deeper than 32 levels become text', () => {
    const leaf = lengthFieldOf(1, 'leaf')
    expect(depthOf(readValue(nestedValue(32, leaf)))).toEqual([32, 'leaf'])
    expect(depthOf(readValue(nestedValue(33, leaf)))).toEqual([33, '[too deep]'])
    expect(depthOf(readValue(nestedValue(100_000, leaf)))).toEqual([33, '[too deep]'])
  })

  test('cut attributes, events and links, and count them as dropped', () => {
    const small = protobufDecoder({
      ...defaultDecodeLimits,
      attributes_per_item: 2,
      events_per_span: 1,
      links_per_span: 0,
    })
    const fields = [
      ...['a', 'b', 'c', 'd'].map((key) => attribute(key, lengthFieldOf(1, key))),
      varintFieldOf(10, 2 ** 32 - 2),
      lengthFieldOf(11, lengthFieldOf(2, 'first')),
      lengthFieldOf(11, lengthFieldOf(2, 'second')),
      varintFieldOf(12, 5),
      lengthFieldOf(13, lengthFieldOf(1, traceIdBytes)),
    ]
    const span = small.traces(requestWith(spanWith(...fields))).groups[0]?.items[0]
    expect(span?.attributes.keys).toEqual(['a', 'b'])
    expect(span?.events.map(({ name }) => name)).toEqual(['first'])
    expect(span).toMatchObject({
      dropped_attributes_count: 2 ** 32 - 1,
      dropped_events_count: 6,
      dropped_links_count: 1,
    })
  })

  test('reject the items over the limit', () => {
    const small = protobufDecoder({ ...defaultDecodeLimits, items_per_request: 2 })
    const request = small.traces(requestWith(spanWith(), Buffer.alloc(0), spanWith(), spanWith()))
    expect(request.groups[0]?.items).toHaveLength(1)
    expect(request.items).toBe(4)
    expect([...request.rejected]).toEqual([
      ['invalid_trace_id', 1],
      ['too_many_items', 2],
    ])
  })

  test('bound the values of a request at any depth', () => {
    const small = protobufDecoder({ ...defaultDecodeLimits, values_per_request: 5 })
    const list = lengthFieldOf(5, ...Array.from({ length: 9 }, () => lengthFieldOf(1)))
    const span = spanWith(attribute('a', list), attribute('b', lengthFieldOf(1, 'b')))
    const request = small.traces(requestWith(span, spanWith()))
    const attributes = request.groups[0]?.items[0]?.attributes
    expect(attributes).toEqual({ keys: ['a'], values: [[null, null, null, null]] })
    expect(request.groups[0]?.items[0]?.dropped_attributes_count).toBe(1)
    expect(request.warnings).toEqual(new Map([['values_cut', 5]]))
    expect(request.rejected).toEqual(new Map([['too_many_items', 1]]))
  })
})

test('events, links and maps count as four values', () => {
  const small = protobufDecoder({ ...defaultDecodeLimits, values_per_request: 10 })
  const event = lengthFieldOf(11, '')
  const map = attribute('a', lengthFieldOf(6, ''))
  const request = small.traces(requestWith(spanWith(event, map, event), spanWith()))
  expect(request.groups[0]?.items[0]).toMatchObject({
    events: [{ name: '' }],
    dropped_events_count: 1,
    attributes: { keys: ['a'] },
  })
  expect(request.rejected).toEqual(new Map([['too_many_items', 1]]))
})

test('keys that reach a prototype are dropped', () => {
  const value = lengthFieldOf(1, 'x')
  const bad = ['__proto__', 'constructor', 'prototype']
  const map = lengthFieldOf(
    6,
    ...[...bad, 'ok'].map((key) => lengthFieldOf(1, keyValueOf(key, value))),
  )
  const request = decoder.traces(
    requestWith(spanWith(...bad.map((key) => attribute(key, value)), attribute('map', map))),
  )
  expect(request.groups[0]?.items[0]?.attributes).toEqual({
    keys: ['map'],
    values: [{ map: { keys: ['ok'], values: ['x'] } }],
  })
  expect(request.warnings).toEqual(new Map([['forbidden_key', 6]]))
})

describe('a log record', () => {
  test('has its event name from field or attribute, and no ids when they are invalid', () => {
    const event = lengthFieldOf(6, keyValueOf('event.name', lengthFieldOf(1, 'gen_ai.choice')))
    const ids = (trace: Buffer) => [lengthFieldOf(9, trace), lengthFieldOf(10, spanIdBytes)]
    const request = logsOf(
      Buffer.concat([event, ...ids(traceIdBytes), lengthFieldOf(5, varintFieldOf(3, 7))]),
      Buffer.concat([event, lengthFieldOf(12, 'own'), ...ids(spanIdBytes), varintFieldOf(2, 25)]),
      Buffer.alloc(0),
    )
    const records = request.groups[0]?.items
    expect(records?.map((record) => [record.event_name, record.trace_id, record.span_id])).toEqual([
      ['gen_ai.choice', '5b8efff7-9803-8103-d269-b633813fc60c', 'eee19b7ec3c1b174'],
      ['own', '', ''],
      ['', '', ''],
    ])
    expect(records?.map(({ body }) => body)).toEqual([7, null, null])
    expect(request.rejected.size).toBe(0)
    expect([...request.warnings.keys()]).toEqual([
      'invalid_trace_id',
      'unknown_severity_number',
      'span_id_without_trace_id',
    ])
  })
})

test('an empty request has no items', () => {
  expect(decoder.traces(Buffer.alloc(0))).toMatchObject({ groups: [], items: 0 })
  expect(decoder.traces(lengthFieldOf(1))).toMatchObject({ groups: [], items: 0 })
})

function logsOf(...records: Buffer[]) {
  const scopeLogs = records.map((record) => lengthFieldOf(2, record))
  return decoder.logs(lengthFieldOf(1, lengthFieldOf(2, ...scopeLogs)))
}

function attribute(key: string | Buffer, value: Buffer): Buffer {
  return lengthFieldOf(9, keyValueOf(key, value))
}

function spanOf(span: Buffer): OtlpSpan {
  const item = decoder.traces(requestWith(span)).groups[0]?.items[0]
  if (item === undefined) throw new Error('the span is rejected')
  return item
}

function readValue(value: Buffer): OtlpValue | undefined {
  return spanOf(spanWith(attribute('key', value))).attributes.values[0]
}

/** How many lists are around a value, and the value. */
function depthOf(value: OtlpValue | undefined): [number, OtlpValue | undefined] {
  let inner = value
  let levels = 0
  for (; Array.isArray(inner); levels++) inner = inner[0]
  return [levels, inner]
}

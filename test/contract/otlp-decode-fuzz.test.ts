import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type OtlpAttributes,
  type OtlpDataPoint,
  OtlpDecodeError,
  type OtlpDecoder,
  type OtlpLogRecord,
  type OtlpRequest,
  type OtlpSpan,
  type OtlpValue,
} from '../../src/capabilities/edge/otlp/contract.ts'
import { jsonDecoder } from '../../src/capabilities/edge/otlp/decode/json/decoder.ts'
import { protobufDecoder } from '../../src/capabilities/edge/otlp/decode/protobuf/decoder.ts'
import { anyTraces } from '../support/otlp-arbitrary.ts'
import { comparable, comparableByProtobufjs } from '../support/otlp-comparable.ts'
import {
  logsProtobuf,
  metricsProtobuf,
  otlpJson,
  type PlainLogs,
  type PlainMetrics,
  tracesProtobuf,
} from '../support/otlp-messages.ts'
import { otlpRequest, randomNumbers } from '../support/otlp-requests.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

const fixedSeed = 20_260_105
const randomSeed = Math.floor(Math.random() * 2 ** 31)
const casesPerCorpus = fuzzRuns(14_000)

const rich = otlpRequest({ spans: 2, span_bytes: 1_400 })
for (const span of rich.resourceSpans[0]?.scopeSpans[0]?.spans ?? []) {
  const attributes = [
    {
      key: 'list',
      value: { arrayValue: { values: [{ boolValue: true }, {}, { intValue: '-1' }] } },
    },
    { key: 'map', value: { kvlistValue: { values: [{ key: 'a', value: { doubleValue: 0.5 } }] } } },
    { key: 'bytes', value: { bytesValue: 'AAEC' } },
  ]
  span.attributes?.push(...attributes)
  span.events = [{ timeUnixNano: '17', name: 'exception', attributes, droppedAttributesCount: 2 }]
  span.links = [{ traceId: span.traceId, spanId: span.spanId, traceState: 'a=b', attributes }]
  span.status = { code: 2, message: 'overloaded' }
  span.traceState = 'vendor=1'
}
const records: PlainLogs = {
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'a' } }] },
      scopeLogs: [
        {
          scope: { name: 'events' },
          logRecords: [
            {
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              timeUnixNano: '1767571200000000000',
              severityNumber: 9,
              eventName: 'gen_ai.client.inference.operation.details',
              body: { kvlistValue: { values: [{ key: 'role', value: { stringValue: 'user' } }] } },
              attributes: [{ key: 'event.name', value: { stringValue: 'gen_ai.user.message' } }],
            },
          ],
        },
      ],
    },
  ],
}

const point = {
  startTimeUnixNano: '1767571200000000000',
  timeUnixNano: '1767571260000000000',
  attributes: [{ key: 'session.id', value: { stringValue: 's-1' } }],
}
const distribution = { dataPoints: [{ ...point, count: '3', sum: 1.5 }], aggregationTemporality: 2 }
const measures: PlainMetrics = {
  resourceMetrics: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'a' } }] },
      scopeMetrics: [
        {
          scope: { name: 'meter' },
          metrics: [
            {
              name: 'claude_code.cost.usage',
              unit: 'USD',
              sum: { dataPoints: [{ ...point, asDouble: 0.5 }], aggregationTemporality: 1 },
            },
            { name: 'b', gauge: { dataPoints: [{ ...point, asInt: '-1' }] } },
            { name: 'c', histogram: distribution },
            { name: 'd', exponentialHistogram: distribution },
          ],
        },
      ],
    },
  ],
}

type Random = () => number
type Item = OtlpSpan | OtlpLogRecord | OtlpDataPoint
type Decode = (body: Buffer) => OtlpRequest<Item>

const protobuf = protobufDecoder()
const json = jsonDecoder()
const corpora: [string, Buffer, Decode, (body: Buffer, random: Random) => Buffer][] = [
  ['protobuf traces', tracesProtobuf(rich), protobuf.traces, brokenBytes],
  ['protobuf logs', logsProtobuf(records), protobuf.logs, brokenBytes],
  ['protobuf metrics', metricsProtobuf(measures), protobuf.metrics, brokenBytes],
  ['json traces', otlpJson(rich), json.traces, brokenJson],
  ['json logs', otlpJson(records), json.logs, brokenJson],
  ['json metrics', otlpJson(measures), json.metrics, brokenJson],
]

describe.each(corpora)('%s', (_name, body, decode, broken) => {
  test('are decoded if intact', () => {
    const request = decode(body)
    expect(itemCount(request)).toBe(request.items)
    expect(request.items).toBeGreaterThan(0)
  })

  test('cut off anywhere give a result or an OtlpDecodeError', () => {
    for (let end = 0; end < body.length; end++) attempt(decode, body.subarray(0, end))
  })

  test.each([
    ['fixed', fixedSeed],
    ['random', randomSeed],
  ] as const)(
    'broken at random give a result or an OtlpDecodeError (%s seed %i)',
    (_kind, seed) => {
      const random = randomNumbers(seed)
      let results = 0
      for (let i = 0; i < casesPerCorpus; i++) {
        const damaged = broken(body, random)
        const outcome = attempt(decode, damaged)
        if (outcome !== undefined) results++
      }
      console.log(`seed ${seed}: ${casesPerCorpus} cases, ${results} decoded`)
      // Both outcomes occur: some damage is detected, and not every damaged request is refused.
      expect(results).toBeGreaterThan(casesPerCorpus / 100)
      expect(results).toBeLessThan(casesPerCorpus)
    },
  )
})

test('valid requests are decoded like protobufjs does, also from JSON', () => {
  fc.assert(
    fc.property(anyTraces, (request) => {
      const body = tracesProtobuf(request)
      const expected = comparableByProtobufjs(body)
      const decoded = protobuf.traces(body)
      expect(comparable(decoded)).toEqual(expected)
      const fromJson = json.traces(otlpJson(request))
      expect(comparable(fromJson)).toEqual(expected)
      expect([...decoded.warnings, ...fromJson.warnings]).toEqual([])
    }),
    { numRuns: fuzzRuns(600), seed: fixedSeed },
  )
})

test('a decoder accepts the same request again and again, after any others', () => {
  const decoder: OtlpDecoder = protobufDecoder()
  const bodies = [1, 2, 3].map((seed) => tracesProtobuf(otlpRequest({ spans: 20, seed })))
  const first = bodies.map((body) => comparable(decoder.traces(body)))
  for (let round = 0; round < 5; round++) {
    expect(bodies.map((body) => comparable(decoder.traces(body)))).toEqual(first)
  }
  expect(first).toEqual(bodies.map(comparableByProtobufjs))
})

/** Decodes; the result must be consistent, and any error but OtlpDecodeError is rethrown. */
function attempt(decode: Decode, body: Buffer): OtlpRequest<Item> | undefined {
  let request: OtlpRequest<Item>
  try {
    request = decode(body)
  } catch (cause) {
    if (cause instanceof OtlpDecodeError && cause.message.length > 10) return undefined
    throw new Error(`case ${body.toString('base64')}`, { cause })
  }
  const fault = faultOf(request, body)
  if (fault !== '') throw new Error(`${fault}: case ${body.toString('base64')}`)
  return request
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const spanId = /^[0-9a-f]{16}$/
const zero = /^[0-]+$/

function faultOf(request: OtlpRequest<Item>, body: Buffer): string {
  const rejected = [...request.rejected.values()].reduce((sum, count) => sum + count, 0)
  if (itemCount(request) + rejected !== request.items) return 'items are lost'
  if (rejected > 0 !== (request.first_rejection !== '')) return 'a rejection is not reported'
  let values = 0
  for (const { resource, scope, items } of request.groups) {
    values += valuesOf(resource.attributes) + valuesOf(scope.attributes)
    for (const item of items) {
      if (!idsAreValid(item)) return 'an id is invalid'
      values += valuesOf(item.attributes)
    }
  }
  return values > body.length ? 'more values than bytes' : ''
}

function idsAreValid(item: Item): boolean {
  if ('metric' in item) return item.trace_id === ''
  if (!('links' in item)) {
    return item.trace_id === '' ? item.span_id === '' : isId(item.trace_id, uuid)
  }
  const parent = item.parent_span_id === '' || isId(item.parent_span_id, spanId)
  return (
    parent &&
    [item, ...item.links].every((id) => isId(id.trace_id, uuid) && isId(id.span_id, spanId))
  )
}

function isId(id: string, form: RegExp): boolean {
  return form.test(id) && !zero.test(id)
}

function itemCount(request: OtlpRequest<unknown>): number {
  return request.groups.reduce((sum, { items }) => sum + items.length, 0)
}

function valuesOf({ keys, values }: OtlpAttributes): number {
  if (keys.length !== values.length) throw new Error('keys and values differ')
  return sumOf(values)
}

function sumOf(values: readonly OtlpValue[]): number {
  return values.reduce<number>((sum, value) => sum + 1 + innerValues(value), 0)
}

function innerValues(value: OtlpValue): number {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return 0
  if (Array.isArray(value)) return sumOf(value)
  return 'map' in value ? valuesOf(value.map as OtlpAttributes) : 0
}

function brokenBytes(body: Buffer, random: Random): Buffer {
  const at = () => Math.floor(random() * body.length)
  const damaged = Buffer.from(body)
  const kind = Math.floor(random() * 7)
  if (kind === 0) return spliced(body, random)
  if (kind === 1) return Buffer.from(Array.from({ length: at() % 200 }, () => random() * 256))
  if (kind === 2) return inserted(body, at(), Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]))
  if (kind === 3) return inserted(body, at(), Buffer.alloc(11, 0xff))
  if (kind === 4) return inserted(body, at(), Buffer.alloc(40, 0x0b))
  if (kind === 5) {
    damaged[at()] = random() < 0.5 ? 0xff : 0x80
    return damaged
  }
  for (let flips = Math.ceil(random() * 4); flips > 0; flips--) {
    const place = at()
    damaged[place] = (damaged[place] ?? 0) ^ (1 << Math.floor(random() * 8))
  }
  return damaged
}

const tokens = [
  'null',
  '[]',
  '{}',
  '-1',
  '1e999',
  '"x"',
  'true',
  '[[{"a":[]}]]',
  '"18446744073709551616"',
]

/** Mostly still JSON: one value becomes another. */
function brokenJson(body: Buffer, random: Random): Buffer {
  if (random() < 0.3) return brokenBytes(body, random)
  const { text, values } = valuesIn(body)
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) return body
  const token = tokens[Math.floor(random() * tokens.length)] ?? 'null'
  const after = value.index + value[0].length
  return Buffer.from(`${text.slice(0, value.index)}:${token}${text.slice(after)}`)
}

type Values = { text: string; values: RegExpExecArray[] }
const known = new Map<Buffer, Values>()

/** Positions of the scalars and empty lists of this text, computed once. */
function valuesIn(body: Buffer): Values {
  const text = body.toString('utf8')
  const found = known.get(body) ?? {
    text,
    values: [...text.matchAll(/:("[^"\\]*"|\d+|\[\]|\{\})/g)],
  }
  known.set(body, found)
  return found
}

function spliced(body: Buffer, random: Random): Buffer {
  const cuts = [random(), random(), random()].map((part) => Math.floor(part * body.length))
  const [a = 0, b = 0, c = 0] = cuts
  return Buffer.concat([body.subarray(0, a), body.subarray(Math.min(b, c), Math.max(b, c))])
}

function inserted(body: Buffer, at: number, bytes: Buffer): Buffer {
  return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)])
}

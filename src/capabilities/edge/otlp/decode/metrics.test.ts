import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  metricsProtobuf,
  otlpJson,
  type PlainMetric,
  type PlainMetrics,
  type PlainPoint,
} from '../../../../../test/support/otlp-messages.ts'
import type { OtlpDataPoint, OtlpRequest } from '../contract.ts'
import { jsonDecoder } from './json/decoder.ts'
import { protobufDecoder } from './protobuf/decoder.ts'
import { defaultDecodeLimits } from './tally.ts'

const json = jsonDecoder()
const protobuf = protobufDecoder()

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String)
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
// JSON has no negative zero.
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0)
const short = fc.string({ maxLength: 12 })
const attributes = fc.array(fc.record({ key: short, value: fc.record({ stringValue: short }) }), {
  maxLength: 3,
})
const times = { startTimeUnixNano: uint64, timeUnixNano: uint64, attributes }
const number: fc.Arbitrary<PlainPoint> = fc.oneof(
  fc.record({ ...times, asInt: int64 }),
  fc.record({ ...times, asDouble: double }),
  fc.record(times),
)
const distribution: fc.Arbitrary<PlainPoint> = fc.record({ ...times, count: uint64, sum: double })
const points = (point: fc.Arbitrary<PlainPoint>) => fc.array(point, { maxLength: 3 })
const aggregationTemporality = fc.integer({ min: 0, max: 2 })
const named = { name: short, unit: short }
const metric: fc.Arbitrary<PlainMetric> = fc.oneof(
  fc.record({ ...named, gauge: fc.record({ dataPoints: points(number) }) }),
  fc.record({ ...named, sum: fc.record({ dataPoints: points(number), aggregationTemporality }) }),
  fc.record({
    ...named,
    histogram: fc.record({ dataPoints: points(distribution), aggregationTemporality }),
  }),
  fc.record({
    ...named,
    exponentialHistogram: fc.record({ dataPoints: points(distribution), aggregationTemporality }),
  }),
  fc.record({ ...named, summary: fc.record({ dataPoints: points(distribution) }) }),
  fc.record(named),
)
const request: fc.Arbitrary<PlainMetrics> = fc.record({
  resourceMetrics: fc.array(
    fc.record({
      scopeMetrics: fc.array(fc.record({ metrics: fc.array(metric, { maxLength: 4 }) }), {
        maxLength: 2,
      }),
    }),
    { maxLength: 2 },
  ),
})

/** All points in order, with the fields of their metrics. */
function pointsOf({ groups }: OtlpRequest<OtlpDataPoint>) {
  return groups.flatMap(({ items }) => items)
}

/** The points as they are in the JSON. */
function expectedOf({ resourceMetrics }: PlainMetrics): unknown[] {
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap((scope) => scope.metrics),
  )
  return metrics.flatMap((one) => {
    const { sum, gauge, histogram, exponentialHistogram, summary } = one
    const data = sum ?? gauge ?? histogram ?? exponentialHistogram ?? summary
    return (data?.dataPoints ?? []).map((point) => ({
      name: one.name,
      temporality: data?.aggregationTemporality ?? 0,
      start_time: BigInt(point.startTimeUnixNano ?? 0),
      keys: point.attributes?.map(({ key }) => key).filter((key) => !forbidden.has(key)),
      value: readValue(point),
      count: point.count === undefined ? null : exact(point.count),
    }))
  })
}

const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

function readValue({ asInt, asDouble, sum }: PlainPoint): unknown {
  if (asInt !== undefined) return exact(asInt)
  return asDouble ?? sum ?? null
}

function exact(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

test('both encodings give the points of the request', () => {
  fc.assert(
    fc.property(request, (metrics) => {
      const expected = expectedOf(metrics)
      for (const [decoder, body] of [
        [json, otlpJson(metrics)],
        [protobuf, metricsProtobuf(metrics)],
      ] as const) {
        const decoded = decoder.metrics(body)
        const found = pointsOf(decoded).map(({ metric: { name, temporality }, ...point }) => ({
          name,
          temporality,
          start_time: point.start_time,
          keys: point.attributes.keys,
          value: point.value,
          count: point.count,
        }))
        expect(found).toEqual(expected)
        expect([decoded.items, decoded.rejected.size]).toEqual([expected.length, 0])
      }
    }),
  )
})

test('points beyond the limit are rejected one by one, and bad JSON points too', () => {
  const dataPoints = Array.from({ length: 4 }, () => ({ asInt: '1' }))
  const metrics = [{ name: 'a', sum: { dataPoints } }]
  const body = { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }
  const limits = { ...defaultDecodeLimits, items_per_request: 3 }
  for (const decoded of [
    jsonDecoder(limits).metrics(otlpJson(body)),
    protobufDecoder(limits).metrics(metricsProtobuf(body)),
  ]) {
    expect(pointsOf(decoded)).toHaveLength(3)
    expect([decoded.items, decoded.rejected.get('too_many_items')]).toEqual([4, 1])
  }
  const bad =
    '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{"dataPoints":[7,{"timeUnixNano":"x"}]}}]}]}]}'
  expect(json.metrics(Buffer.from(bad)).rejected).toEqual(new Map([['invalid_item', 2]]))
})

import type { OtlpDataPoint } from '../../contract.ts'
import { aggregationTemporality, emptyDataPoint, emptyMetric, type PointKind } from '../items.ts'
import type { Tally } from '../tally.ts'
import { doubleOf, int64Of, listOf, objectOf, textOf, timeOf } from './json-scalars.ts'
import { readAttributes } from './json-values.ts'

type JsonFields = { readonly [name: string]: unknown }

/** The fields of Metric that hold data points, in both spellings. */
const kinds: readonly (readonly [string, PointKind])[] = [
  ['sum', 'number'],
  ['gauge', 'number'],
  ['histogram', 'distribution'],
  ['exponentialHistogram', 'distribution'],
  ['exponential_histogram', 'distribution'],
  ['summary', 'summary'],
]

const temporalities = new Map([
  ['AGGREGATION_TEMPORALITY_UNSPECIFIED', 0],
  ['AGGREGATION_TEMPORALITY_DELTA', 1],
  ['AGGREGATION_TEMPORALITY_CUMULATIVE', 2],
])

/** Reads the data points of a metric into the list. Each one counts as an item. */
export function readJsonMetric(raw: unknown, into: OtlpDataPoint[], tally: Tally): void {
  const json = objectOf(raw, tally) as JsonFields | undefined
  if (json === undefined) return
  const metric = emptyMetric()
  metric.name = textOf(json['name'], tally)
  metric.unit = textOf(json['unit'], tally)
  for (const [field, kind] of kinds) {
    const data = objectOf(json[field], tally) as JsonFields | undefined
    if (data === undefined) continue
    metric.temporality = temporalityOf(
      data['aggregationTemporality'] ?? data['aggregation_temporality'],
      tally,
    )
    for (const point of listOf(data['dataPoints'] ?? data['data_points'], tally)) {
      if (!tally.takesItem()) continue
      const read = readPoint(point, emptyDataPoint(metric, kind), tally)
      if (read !== undefined) into.push(read)
    }
  }
}

function temporalityOf(value: unknown, tally: Tally): number {
  if (value === undefined || value === null) return 0
  const number = typeof value === 'string' ? temporalities.get(value) : value
  return aggregationTemporality(typeof number === 'number' ? number : -1, tally)
}

function readPoint(raw: unknown, point: OtlpDataPoint, tally: Tally): OtlpDataPoint | undefined {
  const json = objectOf(raw, tally) as JsonFields | undefined
  const start = timeOf(json?.['startTimeUnixNano'] ?? json?.['start_time_unix_nano'], tally)
  const time = timeOf(json?.['timeUnixNano'] ?? json?.['time_unix_nano'], tally)
  if (json === undefined || start === undefined || time === undefined) {
    tally.reject('invalid_item', 'the data point is not an object with valid times')
    return undefined
  }
  point.start_time = start
  point.time = time
  readAttributes(json['attributes'], point.attributes, tally)
  readValue(json, point)
  return point
}

function readValue(json: JsonFields, point: OtlpDataPoint): void {
  const int = json['asInt'] ?? json['as_int']
  const double = json['asDouble'] ?? json['as_double'] ?? json['sum']
  point.value = (int === undefined ? doubleOf(double) : int64Of(int)) ?? point.value
  point.count = countIn(json['count']) ?? point.count
}

/** Returns a uint64 from text or a number; undefined for anything else. */
function countIn(value: unknown): number | bigint | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) return undefined
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : BigInt(value)
}

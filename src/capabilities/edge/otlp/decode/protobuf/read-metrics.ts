import type { OtlpDataPoint, OtlpMetric } from '../../contract.ts'
import { aggregationTemporality, emptyDataPoint, emptyMetric, type PointKind } from '../items.ts'
import { readAttribute } from './any-value.ts'
import { readText } from './read-scalars.ts'
import type { WireReader } from './wire-reader.ts'

/** The fields of one kind of data point; a field that the kind lacks is 0, which no tag has. */
type PointFields = {
  message: string
  kind: PointKind
  /** Tags: field number × 8 + wire type. */
  attributes: number
  double: number
  int: number
  count: number
}

const startTag = 17
const timeTag = 25

const numberPoint: PointFields = {
  message: 'NumberDataPoint',
  kind: 'number',
  attributes: 58,
  double: 33,
  int: 49,
  count: 0,
}
const histogramPoint: PointFields = {
  message: 'HistogramDataPoint',
  kind: 'distribution',
  attributes: 74,
  double: 41,
  int: 0,
  count: 33,
}
const exponentialPoint: PointFields = {
  ...histogramPoint,
  message: 'ExponentialHistogramDataPoint',
  attributes: 10,
}
const summaryPoint: PointFields = {
  ...histogramPoint,
  message: 'SummaryDataPoint',
  kind: 'summary',
  attributes: 58,
}

/** The fields of Metric that hold data points, by tag. */
const kinds: ReadonlyMap<number, PointFields> = new Map([
  [42, numberPoint],
  [58, numberPoint],
  [74, histogramPoint],
  [82, exponentialPoint],
  [90, summaryPoint],
])

const metricFields = 0b1110_1010_1010

/** Reads the data points of a metric into the list. Each one counts as an item. */
export function readMetric(wire: WireReader, into: OtlpDataPoint[]): void {
  const metric = emptyMetric()
  while (wire.position < wire.end) {
    const tag = wire.tag('Metric')
    const fields = kinds.get(tag)
    if (fields !== undefined) readData(wire, { metric, fields, into })
    else if (tag === 10) metric.name = readText(wire, 'Metric.name')
    else if (tag === 26) metric.unit = readText(wire, 'Metric.unit')
    else wire.skip(tag, 'Metric', metricFields)
  }
}

type Points = { metric: OtlpMetric; fields: PointFields; into: OtlpDataPoint[] }

/** Reads Sum, Gauge, Histogram, ExponentialHistogram or Summary. */
function readData(wire: WireReader, { metric, fields, into }: Points): void {
  const around = wire.enter('Metric.data')
  while (wire.position < wire.end) {
    const tag = wire.tag('Metric.data')
    if (tag === 16) {
      metric.temporality = aggregationTemporality(
        wire.varint('aggregation_temporality'),
        wire.tally,
      )
    } else if (tag !== 10) wire.skip(tag, 'Metric.data', 0b10)
    else {
      const inside = wire.enter('Metric.data_points')
      if (wire.tally.takesItem()) into.push(readPoint(wire, metric, fields))
      wire.leave(inside)
    }
  }
  wire.leave(around)
}

function readPoint(wire: WireReader, metric: OtlpMetric, fields: PointFields): OtlpDataPoint {
  const point = emptyDataPoint(metric, fields.kind)
  const { message } = fields
  while (wire.position < wire.end) {
    const tag = wire.tag(message)
    if (tag === startTag) point.start_time = wire.fixed64(`${message}.start_time_unix_nano`)
    else if (tag === timeTag) point.time = wire.fixed64(`${message}.time_unix_nano`)
    else if (tag === fields.attributes) {
      readAttribute(wire, `${message}.attributes`, point.attributes)
    } else if (tag === fields.double) point.value = wire.double(`${message}.as_double`)
    else if (tag === fields.int) point.value = signed(wire.fixed64(`${message}.as_int`))
    else if (tag === fields.count) point.count = exact(wire.fixed64(`${message}.count`))
    else wire.skip(tag, message, 0b1100)
  }
  return point
}

function signed(value: bigint): number | bigint {
  return exact(BigInt.asIntN(64, value))
}

/** Returns a number where that is exact. */
function exact(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

import type {
  OtlpDataPoint,
  OtlpDecoder,
  OtlpGroup,
  OtlpLogRecord,
  OtlpMetric,
  OtlpRequest,
  OtlpResource,
  OtlpScope,
  OtlpSpan,
} from '../../contract.ts'
import {
  aggregationTemporality,
  droppedCount,
  emptyDataPoint,
  emptyMetric,
  emptyResource,
  emptyScope,
  type PointKind,
} from '../items.ts'
import { type DecodeLimits, defaultDecodeLimits, Tally } from '../tally.ts'
import { readAttribute } from './any-value.ts'
import { readLogRecord, readSpan } from './read-items.ts'
import { readText } from './read-scalars.ts'
import { newTextCaches } from './text-cache.ts'
import { WireReader } from './wire-reader.ts'

/**
 * Makes a decoder of ExportTraceServiceRequest, ExportLogsServiceRequest and
 * ExportMetricsServiceRequest (opentelemetry-proto 1.11). Long texts are views of the body, which the caller must not change. Use one decoder for
 * all requests, because it remembers attribute keys.
 */
export function protobufDecoder(limits: DecodeLimits = defaultDecodeLimits): OtlpDecoder {
  const caches = newTextCaches()
  return {
    traces: (body) => decode(new WireReader(body, new Tally(limits), caches), traces),
    logs: (body) => decode(new WireReader(body, new Tally(limits), caches), logs),
    metrics: (body) => decode(new WireReader(body, new Tally(limits), caches), metrics),
  }
}

/** Message names of one signal; the field numbers are the same for all signals. */
type Signal<Item> = {
  request: string
  resourceItems: string
  scopeItems: string
  resource: string
  resourceSchemaUrl: string
  scope: string
  item: string
  scopeSchemaUrl: string
  /** Reads one of `ScopeSpans.spans`, or of its like, into the list: an item, or several. */
  read(wire: WireReader, into: Item[]): void
}

const traces: Signal<OtlpSpan> = {
  request: 'ExportTraceServiceRequest.resource_spans',
  resourceItems: 'ResourceSpans',
  resource: 'ResourceSpans.resource',
  resourceSchemaUrl: 'ResourceSpans.schema_url',
  scopeItems: 'ResourceSpans.scope_spans',
  scope: 'ScopeSpans.scope',
  item: 'ScopeSpans.spans',
  scopeSchemaUrl: 'ScopeSpans.schema_url',
  read: oneItem(readSpan),
}

const logs: Signal<OtlpLogRecord> = {
  request: 'ExportLogsServiceRequest.resource_logs',
  resourceItems: 'ResourceLogs',
  resource: 'ResourceLogs.resource',
  resourceSchemaUrl: 'ResourceLogs.schema_url',
  scopeItems: 'ResourceLogs.scope_logs',
  scope: 'ScopeLogs.scope',
  item: 'ScopeLogs.log_records',
  scopeSchemaUrl: 'ScopeLogs.schema_url',
  read: oneItem(readLogRecord),
}

const metrics: Signal<OtlpDataPoint> = {
  request: 'ExportMetricsServiceRequest.resource_metrics',
  resourceItems: 'ResourceMetrics',
  resource: 'ResourceMetrics.resource',
  resourceSchemaUrl: 'ResourceMetrics.schema_url',
  scopeItems: 'ResourceMetrics.scope_metrics',
  scope: 'ScopeMetrics.scope',
  item: 'ScopeMetrics.metrics',
  scopeSchemaUrl: 'ScopeMetrics.schema_url',
  read: readMetric,
}

function oneItem<Item>(readItem: (wire: WireReader) => Item | undefined): Signal<Item>['read'] {
  return (wire, into) => {
    const item = wire.tally.takesItem() ? readItem(wire) : undefined
    if (item !== undefined) into.push(item)
  }
}

const requestFields = 0b10
const groupFields = 0b1110
const resourceFields = 0b110
const scopeFields = 0b1_1110

function decode<Item>(wire: WireReader, signal: Signal<Item>): OtlpRequest<Item> {
  const groups: OtlpGroup<Item>[] = []
  while (wire.position < wire.end) {
    const tag = wire.tag(signal.request)
    if (tag === 10) readResourceItems(wire, signal, groups)
    else wire.skip(tag, signal.request, requestFields)
  }
  return wire.tally.request(groups)
}

function readResourceItems<Item>(
  wire: WireReader,
  signal: Signal<Item>,
  groups: OtlpGroup<Item>[],
): void {
  const around = wire.enter(signal.request)
  // The resource may follow its items, which share this object; it is filled when it comes.
  const resource = emptyResource()
  while (wire.position < wire.end) {
    const tag = wire.tag(signal.resourceItems)
    if (tag === 10) readResource(wire, signal.resource, resource)
    else if (tag === 18) {
      const group: OtlpGroup<Item> = { resource, scope: emptyScope(), items: [] }
      readScopeItems(wire, signal, group)
      if (group.items.length > 0) groups.push(group)
    } else if (tag === 26) resource.schema_url = readText(wire, signal.resourceSchemaUrl)
    else wire.skip(tag, signal.resourceItems, groupFields)
  }
  wire.leave(around)
}

function readScopeItems<Item>(
  wire: WireReader,
  signal: Signal<Item>,
  { scope, items }: OtlpGroup<Item>,
): void {
  const around = wire.enter(signal.scopeItems)
  while (wire.position < wire.end) {
    const tag = wire.tag(signal.scopeItems)
    if (tag === 18) {
      const inside = wire.enter(signal.item)
      signal.read(wire, items)
      wire.leave(inside)
    } else if (tag === 10) readScope(wire, signal.scope, scope)
    else if (tag === 26) scope.schema_url = readText(wire, signal.scopeSchemaUrl)
    else wire.skip(tag, signal.scopeItems, groupFields)
  }
  wire.leave(around)
}

function readResource(wire: WireReader, field: string, resource: OtlpResource): void {
  const around = wire.enter(field)
  let cut = 0
  while (wire.position < wire.end) {
    const tag = wire.tag('Resource')
    if (tag === 10) cut += readAttribute(wire, 'Resource.attributes', resource.attributes)
    else if (tag === 16) {
      resource.dropped_attributes_count = wire.varint('Resource.dropped_attributes_count')
    } else wire.skip(tag, 'Resource', resourceFields)
  }
  resource.dropped_attributes_count = droppedCount(resource.dropped_attributes_count, cut)
  wire.leave(around)
}

function readScope(wire: WireReader, field: string, scope: OtlpScope): void {
  const around = wire.enter(field)
  while (wire.position < wire.end) {
    const tag = wire.tag('InstrumentationScope')
    if (tag === 10) scope.name = readText(wire, 'InstrumentationScope.name')
    else if (tag === 18) scope.version = readText(wire, 'InstrumentationScope.version')
    else if (tag === 26) {
      const cut = readAttribute(wire, 'InstrumentationScope.attributes', scope.attributes)
      if (cut === 1) wire.tally.warn('scope_attributes_cut')
    } else if (tag === 32) wire.varint('InstrumentationScope.dropped_attributes_count')
    else wire.skip(tag, 'InstrumentationScope', scopeFields)
  }
  wire.leave(around)
}

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
function readMetric(wire: WireReader, into: OtlpDataPoint[]): void {
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

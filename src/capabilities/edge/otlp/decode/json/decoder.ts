import { isUtf8 } from 'node:buffer'
import {
  type OtlpDataPoint,
  OtlpDecodeError,
  type OtlpDecoder,
  type OtlpGroup,
  type OtlpLogRecord,
  type OtlpRequest,
  type OtlpResource,
  type OtlpScope,
  type OtlpSpan,
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
import { readJsonLogRecord, readJsonSpan } from './json-items.ts'
import {
  doubleOf,
  int64Of,
  JsonIds,
  listOf,
  objectOf,
  textOf,
  timeOf,
  uint32Of,
} from './json-scalars.ts'
import { readAttributes } from './json-values.ts'

/**
 * Makes a decoder of OTLP/JSON: protobuf's JSON, but with hex ids. Names may be lowerCamelCase or
 * as in the .proto files; unknown fields are ignored.
 */
export function jsonDecoder(limits: DecodeLimits = defaultDecodeLimits): OtlpDecoder {
  return {
    traces: (body) => decode(body, new Tally(limits), traces),
    logs: (body) => decode(body, new Tally(limits), logs),
    metrics: (body) => decode(body, new Tally(limits), metrics),
  }
}

/** Field names of one signal, each in both spellings. */
type Signal<Item> = {
  resources: readonly [string, string]
  scopes: readonly [string, string]
  items: readonly [string, string]
  /** Reads one of `items` into the list: an item, or a metric with several. */
  read(raw: unknown, into: Item[], ids: JsonIds, tally: Tally): void
}

type ReadItem<Item> = (raw: unknown, ids: JsonIds, tally: Tally) => Item | undefined

function oneItem<Item>(readItem: ReadItem<Item>): Signal<Item>['read'] {
  return (raw, into, ids, tally) => {
    if (!tally.takesItem()) return
    const item = readItem(raw, ids, tally)
    if (item !== undefined) into.push(item)
  }
}

const traces: Signal<OtlpSpan> = {
  resources: ['resourceSpans', 'resource_spans'],
  scopes: ['scopeSpans', 'scope_spans'],
  items: ['spans', 'spans'],
  read: oneItem(readJsonSpan),
}

const logs: Signal<OtlpLogRecord> = {
  resources: ['resourceLogs', 'resource_logs'],
  scopes: ['scopeLogs', 'scope_logs'],
  items: ['logRecords', 'log_records'],
  read: oneItem(readJsonLogRecord),
}

const metrics: Signal<OtlpDataPoint> = {
  resources: ['resourceMetrics', 'resource_metrics'],
  scopes: ['scopeMetrics', 'scope_metrics'],
  items: ['metrics', 'metrics'],
  read: (raw, into, _ids, tally) => readJsonMetric(raw, into, tally),
}

type JsonFields = { readonly [name: string]: unknown }

function decode<Item>(body: Buffer, tally: Tally, signal: Signal<Item>): OtlpRequest<Item> {
  const request = requestOf(body, tally)
  const groups: OtlpGroup<Item>[] = []
  const resources = either(request, signal.resources)
  if (resources !== undefined && resources !== null && !Array.isArray(resources)) {
    throw new OtlpDecodeError(`${signal.resources[0]}: expected a list, got ${typeof resources}`)
  }
  const ids = new JsonIds()
  for (const raw of listOf(resources, tally)) {
    const json = objectOf(raw, tally) as JsonFields | undefined
    if (json === undefined) continue
    const resource = readResource(json, tally)
    for (const scoped of listOf(either(json, signal.scopes), tally)) {
      const group = objectOf(scoped, tally) as JsonFields | undefined
      if (group === undefined) continue
      const scope = readScope(group, tally)
      const items = readItems(either(group, signal.items), signal, ids, tally)
      if (items.length > 0) groups.push({ resource, scope, items })
    }
  }
  return tally.request(groups)
}

function requestOf(body: Buffer, tally: Tally): JsonFields {
  const request = parsed(jsonTextOf(body, tally))
  if (typeof request === 'object' && request !== null && !Array.isArray(request)) {
    return request as JsonFields
  }
  throw new OtlpDecodeError('the body is JSON, but not an object')
}

/** Returns the text of a JSON body. Throws OtlpDecodeError if parsing could take too much memory. */
export function jsonTextOf(body: Buffer, tally: Tally): string {
  if (!isUtf8(body)) tally.warn('invalid_utf8')
  checkOpenings(body, tally.limits.json_openings_per_request)
  const text = body.toString('utf8')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** Limits the memory for parsing: `{},` is three bytes here, and an object once parsed. */
function checkOpenings(body: Buffer, most: number): void {
  if (body.length <= most) return
  let openings = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (byte === 0x7b || byte === 0x5b) openings++
  }
  if (openings > most) {
    throw new OtlpDecodeError(`expected at most ${most} objects and lists, got ${openings}`)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const hint = /Unexpected token '[NI]'/.test(message)
      ? ' (NaN and Infinity are written as text: "NaN")'
      : ''
    throw new OtlpDecodeError(`the body is not valid JSON: ${message}${hint}`, { cause })
  }
}

function readItems<Item>(raw: unknown, signal: Signal<Item>, ids: JsonIds, tally: Tally): Item[] {
  const items: Item[] = []
  for (const json of listOf(raw, tally)) signal.read(json, items, ids, tally)
  return items
}

function readResource(group: JsonFields, tally: Tally): OtlpResource {
  const resource = emptyResource()
  resource.schema_url = textOf(either(group, schemaUrl), tally)
  const json = objectOf(group['resource'], tally) as JsonFields | undefined
  if (json === undefined) return resource
  const cut = readAttributes(json['attributes'], resource.attributes, tally)
  const dropped = uint32Of(either(json, droppedAttributes), tally)
  resource.dropped_attributes_count = droppedCount(dropped, cut)
  return resource
}

function readScope(group: JsonFields, tally: Tally): OtlpScope {
  const scope = emptyScope()
  scope.schema_url = textOf(either(group, schemaUrl), tally)
  const json = objectOf(group['scope'], tally) as JsonFields | undefined
  if (json === undefined) return scope
  scope.name = textOf(json['name'], tally)
  scope.version = textOf(json['version'], tally)
  const cut = readAttributes(json['attributes'], scope.attributes, tally)
  if (cut > 0) tally.warn('scope_attributes_cut')
  return scope
}

const schemaUrl = ['schemaUrl', 'schema_url'] as const
const droppedAttributes = ['droppedAttributesCount', 'dropped_attributes_count'] as const

function either(json: JsonFields, [camel, snake]: readonly [string, string]): unknown {
  return json[camel] ?? json[snake]
}

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
function readJsonMetric(raw: unknown, into: OtlpDataPoint[], tally: Tally): void {
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

import type {
  OtlpAttributes,
  OtlpEvent,
  OtlpLink,
  OtlpRequest,
  OtlpSpan,
  OtlpValue,
} from '../../src/capabilities/edge/otlp/contract.ts'
import { otlpMessage } from './otlp-messages.ts'

/** Values and spans in a form in which the outputs of two decoders are compared. */
type Fields = { readonly [name: string]: unknown }

/** The output of one of our decoders, with every text as a string. */
export function comparable(request: OtlpRequest<OtlpSpan>): unknown {
  return request.groups.map(({ resource, scope, items }) => ({
    resource: [pairs(resource.attributes), resource.dropped_attributes_count, resource.schema_url],
    scope: [scope.name, scope.version, pairs(scope.attributes), scope.schema_url],
    spans: items.map((span) => ({
      ...span,
      attributes: pairs(span.attributes),
      events: span.events.map(part),
      links: span.links.map(part),
    })),
  }))
}

/** The same form from the bytes of an ExportTraceServiceRequest, read by protobufjs. */
export function comparableByProtobufjs(body: Buffer): unknown {
  const type = otlpMessage('ExportTraceServiceRequest')
  const options = { longs: BigInt, bytes: Buffer, defaults: true, oneofs: true }
  const request = type.toObject(type.decode(body), options)
  return listIn(request, 'resourceSpans').flatMap((resourceSpans) =>
    listIn(resourceSpans, 'scopeSpans')
      .map((scopeSpans) => ({
        resource: resourceOf(resourceSpans),
        scope: scopeOf(scopeSpans),
        spans: listIn(scopeSpans, 'spans').map(spanOf),
      }))
      .filter(({ spans }) => spans.length > 0),
  )
}

/** One value as `[type, content]`, so that different values are never equal. */
function comparableValue(value: OtlpValue): unknown {
  if (typeof value === 'string') return ['text', value]
  if (Buffer.isBuffer(value)) return ['text', value.toString('utf8')]
  if (typeof value === 'number') return ['number', value]
  if (typeof value !== 'object' || value === null) return [typeof value, value]
  if (Array.isArray(value)) return ['list', value.map(comparableValue)]
  if ('map' in value) return ['map', pairs(value.map as OtlpAttributes)]
  return ['bytes', 'bytes' in value ? Buffer.from(value.bytes).toString('hex') : value]
}

function pairs({ keys, values }: OtlpAttributes): unknown[] {
  return keys.map((key, i) => [key, comparableValue(values[i] ?? null)])
}

function part(item: OtlpEvent | OtlpLink): unknown {
  return { ...item, attributes: pairs(item.attributes) }
}

function spanOf(span: Fields): unknown {
  const status = fieldsIn(span, 'status')
  return {
    ...idsOf(span),
    parent_span_id: hexOf(span['parentSpanId']),
    trace_state: span['traceState'],
    flags: span['flags'],
    name: span['name'],
    kind: span['kind'],
    start_time: span['startTimeUnixNano'],
    end_time: span['endTimeUnixNano'],
    attributes: attributesOf(span),
    dropped_attributes_count: span['droppedAttributesCount'],
    events: listIn(span, 'events').map((event) => ({
      time: event['timeUnixNano'],
      name: event['name'],
      attributes: attributesOf(event),
      dropped_attributes_count: event['droppedAttributesCount'],
    })),
    dropped_events_count: span['droppedEventsCount'],
    links: listIn(span, 'links').map((link) => ({
      ...idsOf(link),
      trace_state: link['traceState'],
      attributes: attributesOf(link),
      dropped_attributes_count: link['droppedAttributesCount'],
    })),
    dropped_links_count: span['droppedLinksCount'],
    status_code: status['code'] ?? 0,
    status_message: status['message'] ?? '',
  }
}

function resourceOf(resourceSpans: Fields): unknown {
  const resource = fieldsIn(resourceSpans, 'resource')
  const dropped = resource['droppedAttributesCount'] ?? 0
  return [attributesOf(resource), dropped, resourceSpans['schemaUrl']]
}

function scopeOf(scopeSpans: Fields): unknown {
  const scope = fieldsIn(scopeSpans, 'scope')
  const { name = '', version = '' } = scope
  return [name, version, attributesOf(scope), scopeSpans['schemaUrl']]
}

function attributesOf(holder: Fields): unknown[] {
  return listIn(holder, 'attributes').map(({ key, value }) => [key, anyValueOf(value)])
}

/** An AnyValue of protobufjs: `value` names the field that is set. */
function anyValueOf(raw: unknown): unknown {
  const any = (raw ?? {}) as Fields
  const set = any['value']
  const content = typeof set === 'string' ? any[set] : undefined
  if (set === 'stringValue') return ['text', content]
  if (set === 'boolValue') return ['boolean', content]
  if (set === 'doubleValue') return ['number', content]
  if (set === 'bytesValue') return ['bytes', hexOf(content)]
  if (set === 'arrayValue') return ['list', listIn(content as Fields, 'values').map(anyValueOf)]
  if (set === 'kvlistValue') {
    return [
      'map',
      listIn(content as Fields, 'values').map(({ key, value }) => [key, anyValueOf(value)]),
    ]
  }
  if (set !== 'intValue') return ['object', null]
  const exact = Number.isSafeInteger(Number(content))
  return exact ? ['number', Number(content)] : ['bigint', content]
}

function idsOf(item: Fields): { trace_id: string; span_id: string } {
  const trace = hexOf(item['traceId'])
  return {
    trace_id: trace.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    span_id: hexOf(item['spanId']),
  }
}

function hexOf(bytes: unknown): string {
  return Buffer.from(bytes as Uint8Array).toString('hex')
}

function fieldsIn(holder: Fields, name: string): Fields {
  return (holder[name] ?? {}) as Fields
}

function listIn(holder: Fields, name: string): Fields[] {
  return (holder[name] ?? []) as Fields[]
}

import type {
  OtlpDataPoint,
  OtlpDecoder,
  OtlpGroup,
  OtlpLogRecord,
  OtlpRequest,
  OtlpResource,
  OtlpScope,
  OtlpSpan,
} from '../../contract.ts'
import { droppedCount, emptyResource, emptyScope } from '../items.ts'
import { type DecodeLimits, defaultDecodeLimits, Tally } from '../tally.ts'
import { readAttribute } from './any-value.ts'
import { readLogRecord, readSpan } from './read-items.ts'
import { readMetric } from './read-metrics.ts'
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

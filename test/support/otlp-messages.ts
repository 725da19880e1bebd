import protobuf from 'protobufjs'

/** The OTLP messages in JSON; ids are hex, 64-bit integers text. */
export type PlainValue = {
  stringValue?: string
  boolValue?: boolean
  intValue?: string
  doubleValue?: number | string
  arrayValue?: { values?: PlainValue[] }
  kvlistValue?: { values?: PlainAttribute[] }
  /** Base64. */
  bytesValue?: string
}
export type PlainAttribute = { key: string; value?: PlainValue }
export type PlainEvent = {
  timeUnixNano: string
  name: string
  attributes?: PlainAttribute[]
  droppedAttributesCount?: number
}
type PlainLink = {
  traceId: string
  spanId: string
  traceState?: string
  attributes?: PlainAttribute[]
  droppedAttributesCount?: number
  flags?: number
}
export type PlainSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  name: string
  kind?: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes?: PlainAttribute[]
  droppedAttributesCount?: number
  events?: PlainEvent[]
  droppedEventsCount?: number
  links?: PlainLink[]
  droppedLinksCount?: number
  status?: { message?: string; code?: number }
  flags?: number
}
export type PlainLogRecord = {
  traceId?: string
  spanId?: string
  timeUnixNano?: string
  observedTimeUnixNano?: string
  severityNumber?: number
  severityText?: string
  eventName?: string
  body?: PlainValue
  attributes?: PlainAttribute[]
  droppedAttributesCount?: number
  flags?: number
}
type PlainResource = { attributes?: PlainAttribute[]; droppedAttributesCount?: number }
type PlainScope = { name?: string; version?: string; attributes?: PlainAttribute[] }
type PlainScopeSpans = { scope?: PlainScope; spans: PlainSpan[]; schemaUrl?: string }
export type PlainTraces = {
  resourceSpans: { resource?: PlainResource; scopeSpans: PlainScopeSpans[]; schemaUrl?: string }[]
}
type PlainScopeLogs = {
  scope?: PlainScope
  logRecords: PlainLogRecord[]
  schemaUrl?: string
}
export type PlainLogs = {
  resourceLogs: { resource?: PlainResource; scopeLogs: PlainScopeLogs[]; schemaUrl?: string }[]
}

export type PlainPoint = {
  startTimeUnixNano?: string
  timeUnixNano?: string
  attributes?: PlainAttribute[]
  asInt?: string
  asDouble?: number
  count?: string
  sum?: number
}
type PlainPoints = { dataPoints: PlainPoint[]; aggregationTemporality?: number }
export type PlainMetric = {
  name: string
  unit?: string
  gauge?: PlainPoints
  sum?: PlainPoints & { isMonotonic?: boolean }
  histogram?: PlainPoints
  exponentialHistogram?: PlainPoints
  summary?: PlainPoints
}
export type PlainMetrics = {
  resourceMetrics: {
    resource?: PlainResource
    scopeMetrics: { scope?: PlainScope; metrics: PlainMetric[] }[]
  }[]
}

const proto = `
syntax = "proto3";
package otlp;
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
message ScopeSpans { InstrumentationScope scope = 1; repeated Span spans = 2; string schema_url = 3; }
message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; string schema_url = 3; }
message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord log_records = 2; string schema_url = 3; }
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message InstrumentationScope {
  string name = 1; string version = 2;
  repeated KeyValue attributes = 3; uint32 dropped_attributes_count = 4;
}
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4;
  string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; uint32 dropped_attributes_count = 10;
  repeated Event events = 11; uint32 dropped_events_count = 12;
  repeated Link links = 13; uint32 dropped_links_count = 14;
  Status status = 15; fixed32 flags = 16;
}
message Event {
  fixed64 time_unix_nano = 1; string name = 2;
  repeated KeyValue attributes = 3; uint32 dropped_attributes_count = 4;
}
message Link {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3;
  repeated KeyValue attributes = 4; uint32 dropped_attributes_count = 5; fixed32 flags = 6;
}
message Status { string message = 2; int32 code = 3; }
message LogRecord {
  fixed64 time_unix_nano = 1; int32 severity_number = 2; string severity_text = 3;
  AnyValue body = 5; repeated KeyValue attributes = 6; uint32 dropped_attributes_count = 7;
  fixed32 flags = 8; bytes trace_id = 9; bytes span_id = 10; fixed64 observed_time_unix_nano = 11;
  string event_name = 12;
}
message ExportMetricsServiceRequest { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; string schema_url = 3; }
message ScopeMetrics { InstrumentationScope scope = 1; repeated Metric metrics = 2; string schema_url = 3; }
message Metric {
  string name = 1; string description = 2; string unit = 3;
  oneof data {
    Numbers gauge = 5; Numbers sum = 7; Histogram histogram = 9;
    ExponentialHistogram exponential_histogram = 10; Summary summary = 11;
  }
}
message Numbers { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
message ExponentialHistogram {
  repeated ExponentialHistogramDataPoint data_points = 1; int32 aggregation_temporality = 2;
}
message Summary { repeated SummaryDataPoint data_points = 1; }
message NumberDataPoint {
  fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3;
  oneof value { double as_double = 4; sfixed64 as_int = 6; }
  repeated KeyValue attributes = 7; uint32 flags = 8;
}
message HistogramDataPoint {
  fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; fixed64 count = 4; optional double sum = 5;
  repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7; repeated KeyValue attributes = 9;
}
message ExponentialHistogramDataPoint {
  repeated KeyValue attributes = 1; fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3;
  fixed64 count = 4; optional double sum = 5; sint32 scale = 6; fixed64 zero_count = 7;
}
message SummaryDataPoint {
  fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; fixed64 count = 4; double sum = 5;
  repeated KeyValue attributes = 7;
}
message ExportTraceServiceResponse { ExportTracePartialSuccess partial_success = 1; }
message ExportTracePartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
message ExportLogsServiceResponse { ExportLogsPartialSuccess partial_success = 1; }
message ExportLogsPartialSuccess { int64 rejected_log_records = 1; string error_message = 2; }
message ExportMetricsServiceResponse { ExportMetricsPartialSuccess partial_success = 1; }
message ExportMetricsPartialSuccess { int64 rejected_data_points = 1; string error_message = 2; }
message RpcStatus { int32 code = 1; string message = 2; repeated Any details = 3; }
message Any { string type_url = 1; bytes value = 2; }
message RetryInfo { Duration retry_delay = 1; }
message Duration { int64 seconds = 1; int32 nanos = 2; }
`

const root = protobuf.parse(proto).root

/** A message of OTLP, or of its answers, in protobufjs: another reader to compare with. */
export function otlpMessage(name: string): protobuf.Type {
  return root.lookupType(`otlp.${name}`)
}

/** The bytes of an ExportTraceServiceRequest. */
export function tracesProtobuf(request: PlainTraces): Buffer {
  return encoded('ExportTraceServiceRequest', request)
}

/** The bytes of an ExportLogsServiceRequest. */
export function logsProtobuf(request: PlainLogs): Buffer {
  return encoded('ExportLogsServiceRequest', request)
}

/** The bytes of an ExportMetricsServiceRequest. */
export function metricsProtobuf(request: PlainMetrics): Buffer {
  return encoded('ExportMetricsServiceRequest', request)
}

/** The bytes of a request in OTLP/JSON. */
export function otlpJson(request: PlainTraces | PlainLogs | PlainMetrics): Buffer {
  return Buffer.from(JSON.stringify(request))
}

function encoded(name: string, request: object): Buffer {
  const type = otlpMessage(name)
  return Buffer.from(type.encode(type.fromObject(withByteIds(request) as object)).finish())
}

const idFields = new Set(['traceId', 'spanId', 'parentSpanId'])

/** Ids are hex in OTLP/JSON and bytes in protobuf; everything else is the same. */
function withByteIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withByteIds)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      idFields.has(name) ? Buffer.from(field as string, 'hex') : withByteIds(field),
    ]),
  )
}

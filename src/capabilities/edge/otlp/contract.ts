/**
 * An AnyValue. Text of 64 bytes and more stays a `Buffer` of valid UTF-8 and is decoded where it is
 * read; shorter text is a string. 64-bit integers are numbers while they are exact, else bigints.
 * Null is an empty value.
 */
export type OtlpValue =
  | string
  | Buffer
  | number
  | bigint
  | boolean
  | null
  | OtlpBytes
  | OtlpList
  | OtlpMap

/** A `bytesValue`; formatted as base64. */
type OtlpBytes = { readonly bytes: Uint8Array }
type OtlpList = readonly OtlpValue[]
/** A `kvlistValue`. Check for lists first (`Array.isArray`), which have a method named `map`. */
export type OtlpMap = { readonly map: OtlpAttributes }

/** Attributes in wire order: `keys[i]` has `values[i]`. A key may occur twice. */
export type OtlpAttributes = { readonly keys: string[]; readonly values: OtlpValue[] }

export type OtlpResource = {
  attributes: OtlpAttributes
  dropped_attributes_count: number
  schema_url: string
}

export type OtlpScope = {
  name: string
  version: string
  attributes: OtlpAttributes
  schema_url: string
}

export type OtlpEvent = {
  time: bigint
  name: string
  attributes: OtlpAttributes
  dropped_attributes_count: number
}

export type OtlpLink = {
  /** UUID. */
  trace_id: string
  span_id: string
  trace_state: string
  attributes: OtlpAttributes
  dropped_attributes_count: number
}

/** A span with valid ids. Times are nanoseconds since 1970; 0 when they were not sent. */
export type OtlpSpan = {
  /** The trace id as a UUID, lower case. */
  trace_id: string
  /** 16 hex digits, lower case. */
  span_id: string
  /** 16 hex digits; empty for a root, and for an invalid id. */
  parent_span_id: string
  trace_state: string
  flags: number
  name: string
  /** SpanKind, 0 to 5. */
  kind: number
  start_time: bigint
  end_time: bigint
  attributes: OtlpAttributes
  dropped_attributes_count: number
  events: OtlpEvent[]
  dropped_events_count: number
  links: OtlpLink[]
  dropped_links_count: number
  /** 0 unset, 1 ok, 2 error. */
  status_code: number
  status_message: string
}

/** A log record that may carry a GenAI event. Ids are empty when it belongs to no span. */
export type OtlpLogRecord = {
  trace_id: string
  span_id: string
  time: bigint
  observed_time: bigint
  /** `event_name`, else the attribute `event.name`. */
  event_name: string
  severity_number: number
  severity_text: string
  body: OtlpValue
  attributes: OtlpAttributes
  dropped_attributes_count: number
  flags: number
}

/** The fields that the data points of a metric share. */
export type OtlpMetric = {
  name: string
  unit: string
  /** 0 for a gauge or a summary, 1 delta, 2 cumulative. */
  temporality: number
}

/** A data point of a metric. Times are nanoseconds since 1970; 0 when they were not sent. */
export type OtlpDataPoint = {
  /** Empty: a data point belongs to no trace. */
  trace_id: string
  metric: OtlpMetric
  start_time: bigint
  time: bigint
  attributes: OtlpAttributes
  /** The value, or the sum of a distribution; null when none was recorded. */
  value: number | bigint | null
  /** The number of values of a distribution; null for a single value. */
  count: number | bigint | null
}

/** Items of one resource and one scope, in wire order. */
export type OtlpGroup<Item> = { resource: OtlpResource; scope: OtlpScope; items: Item[] }

/** A decoded export request. `groups` contains every item that is not rejected. */
export type OtlpRequest<Item> = {
  groups: OtlpGroup<Item>[]
  /** Number of items in the request, including rejected ones. */
  items: number
  /** Number of rejected items by reason (`invalid_trace_id`, `invalid_span_id`, …). */
  rejected: Map<string, number>
  /** Fault of the first rejected item, for the `error_message` of the reply; empty without one. */
  first_rejection: string
  /** Number of accepted deviations from the specification by name, e.g. `base64_id`. */
  warnings: Map<string, number>
}

/** The bytes are not an export request. The message says where and what was expected. */
export class OtlpDecodeError extends Error {
  override readonly name = 'OtlpDecodeError'
}

/** Decodes one encoding. Throws OtlpDecodeError. */
export type OtlpDecoder = {
  traces(body: Buffer): OtlpRequest<OtlpSpan>
  logs(body: Buffer): OtlpRequest<OtlpLogRecord>
  /** Each data point is an item. */
  metrics(body: Buffer): OtlpRequest<OtlpDataPoint>
}

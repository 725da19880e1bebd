/**
 * An AnyValue. Text of 64 bytes and more stays UTF-8 bytes (`Buffer`), checked to be valid, and is
 * decoded where somebody reads it; shorter text is a string. 64-bit integers are numbers while they
 * are exact, else bigints. Null is an empty value.
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

/** A `bytesValue`; shown as base64. */
type OtlpBytes = { readonly bytes: Uint8Array }
type OtlpList = readonly OtlpValue[]
/** A `kvlistValue`. Tell lists first (`Array.isArray`): each has a method named `map`. */
export type OtlpMap = { readonly map: OtlpAttributes }

/** Attributes in the order of the wire: `keys[i]` has `values[i]`. A key may come twice. */
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

/** A span whose ids are valid. Times are nanoseconds since 1970, 0 when they were not sent. */
export type OtlpSpan = {
  /** The trace id as a UUID, lower case. */
  trace_id: string
  /** 16 hex digits, lower case. */
  span_id: string
  /** 16 hex digits; empty at a root, and where it was not a valid id. */
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

/** Items of one resource and one scope, as they came. */
export type OtlpGroup<Item> = { resource: OtlpResource; scope: OtlpScope; items: Item[] }

/** An export request, decoded. `rejected` items are not in `groups`; the others all are. */
export type OtlpRequest<Item> = {
  groups: OtlpGroup<Item>[]
  /** Items in the request, those that were rejected too. */
  items: number
  /** Items that can not be taken, by reason (`invalid_trace_id`, `invalid_span_id`, …). */
  rejected: Map<string, number>
  /** What the first rejected item had, for the answer's `error_message`; empty when none was. */
  first_rejection: string
  /** What was taken though it is not as specified, e.g. `base64_id`; by name. */
  warnings: Map<string, number>
}

/** The bytes are no export request at all: `detail` says where and what was expected. */
export class OtlpDecodeError extends Error {
  override readonly name = 'OtlpDecodeError'
}

/** What decodes one encoding. Throws OtlpDecodeError. */
export type OtlpDecoder = {
  traces(body: Buffer): OtlpRequest<OtlpSpan>
  logs(body: Buffer): OtlpRequest<OtlpLogRecord>
}

import type {
  OtlpAttributes,
  OtlpDataPoint,
  OtlpEvent,
  OtlpLink,
  OtlpLogRecord,
  OtlpMetric,
  OtlpResource,
  OtlpScope,
  OtlpSpan,
} from '../contract.ts'
import type { Tally } from './tally.ts'

/** Returns an empty span for the decoders to fill, so that all spans have one shape in memory. */
export function emptySpan(): OtlpSpan {
  return {
    trace_id: '',
    span_id: '',
    parent_span_id: '',
    trace_state: '',
    flags: 0,
    name: '',
    kind: 0,
    start_time: 0n,
    end_time: 0n,
    attributes: emptyAttributes(),
    dropped_attributes_count: 0,
    events: [],
    dropped_events_count: 0,
    links: [],
    dropped_links_count: 0,
    status_code: 0,
    status_message: '',
  }
}

export function emptyLogRecord(): OtlpLogRecord {
  return {
    trace_id: '',
    span_id: '',
    time: 0n,
    observed_time: 0n,
    event_name: '',
    severity_number: 0,
    severity_text: '',
    body: null,
    attributes: emptyAttributes(),
    dropped_attributes_count: 0,
    flags: 0,
  }
}

export function emptyMetric(): OtlpMetric {
  return { name: '', unit: '', temporality: 0 }
}

/** The kinds of data points, by the fields that are 0 when they were not sent. */
export type PointKind = 'number' | 'distribution' | 'summary'

export function emptyDataPoint(metric: OtlpMetric, kind: PointKind): OtlpDataPoint {
  return {
    trace_id: '',
    metric,
    start_time: 0n,
    time: 0n,
    attributes: emptyAttributes(),
    value: kind === 'summary' ? 0 : null,
    count: kind === 'number' ? null : 0,
  }
}

export function emptyEvent(): OtlpEvent {
  return { time: 0n, name: '', attributes: emptyAttributes(), dropped_attributes_count: 0 }
}

export function emptyLink(): OtlpLink {
  return {
    trace_id: '',
    span_id: '',
    trace_state: '',
    attributes: emptyAttributes(),
    dropped_attributes_count: 0,
  }
}

export function emptyResource(): OtlpResource {
  return { attributes: emptyAttributes(), dropped_attributes_count: 0, schema_url: '' }
}

export function emptyScope(): OtlpScope {
  return { name: '', version: '', attributes: emptyAttributes(), schema_url: '' }
}

export function emptyAttributes(): OtlpAttributes {
  return { keys: [], values: [] }
}

const uint32Max = 0xffff_ffff
const kindMax = 5
const statusMax = 2
const severityMax = 24
const temporalityMax = 2

/** Returns a SpanKind; 0 (unspecified), with a warning, for an unknown number. */
export function spanKind(value: number, tally: Tally): number {
  return enumValue(value, kindMax, tally, 'unknown_span_kind')
}

/** Returns a StatusCode; 0 (unset), with a warning, for an unknown number. */
export function statusCode(value: number, tally: Tally): number {
  return enumValue(value, statusMax, tally, 'unknown_status_code')
}

/** Returns a SeverityNumber; 0 (unspecified), with a warning, for an unknown number. */
export function severityNumber(value: number, tally: Tally): number {
  return enumValue(value, severityMax, tally, 'unknown_severity_number')
}

/** Returns an AggregationTemporality; 0 (unspecified), with a warning, for an unknown number. */
export function aggregationTemporality(value: number, tally: Tally): number {
  return enumValue(value, temporalityMax, tally, 'unknown_temporality')
}

/** Adds the dropped counts of the sender and of the decoder, as a uint32. */
export function droppedCount(sent: number, cut: number): number {
  return Math.min(sent + cut, uint32Max)
}

function enumValue(value: number, most: number, tally: Tally, warning: string): number {
  if (value >= 0 && value <= most) return value
  tally.warn(warning)
  return 0
}

/**
 * Completes a record once all fields are read. Its event name may be in the attribute `event.name`
 * (before LogRecord.event_name); a span id without a trace id is dropped.
 */
export function finishLogRecord(record: OtlpLogRecord, tally: Tally): void {
  if (record.trace_id === '' && record.span_id !== '') {
    record.span_id = ''
    tally.warn('span_id_without_trace_id')
  }
  if (record.event_name !== '') return
  const value = record.attributes.values[record.attributes.keys.indexOf('event.name')]
  if (typeof value === 'string') record.event_name = value
}

/**
 * Returns true for keys that no attribute and no map may have, because they would reach an object's
 * prototype. It compares lengths first, since it runs for every attribute.
 */
export function isForbiddenKey(key: string): boolean {
  if (key.length === 9) return key === '__proto__' || key === 'prototype'
  return key.length === 11 && key === 'constructor'
}

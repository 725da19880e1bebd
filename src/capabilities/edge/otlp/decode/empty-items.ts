import type {
  OtlpAttributes,
  OtlpEvent,
  OtlpLink,
  OtlpLogRecord,
  OtlpResource,
  OtlpScope,
  OtlpSpan,
} from '../contract.ts'

/** A span without anything; the decoders fill it, so that every span has one shape in memory. */
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

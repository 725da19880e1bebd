import type { OtlpEvent, OtlpLink, OtlpLogRecord, OtlpSpan } from '../../contract.ts'
import {
  droppedCount,
  emptyEvent,
  emptyLink,
  emptyLogRecord,
  emptySpan,
  finishLogRecord,
} from '../items.ts'
import type { Tally } from '../tally.ts'
import {
  idFault,
  type JsonIds,
  listOf,
  objectOf,
  severityNumberOf,
  spanKindOf,
  statusCodeOf,
  textOf,
  timeOf,
  uint32Of,
} from './json-scalars.ts'
import { readAnyValue, readAttributes } from './json-values.ts'

type JsonSpan = {
  traceId?: unknown
  trace_id?: unknown
  spanId?: unknown
  span_id?: unknown
  traceState?: unknown
  trace_state?: unknown
  parentSpanId?: unknown
  parent_span_id?: unknown
  flags?: unknown
  name?: unknown
  kind?: unknown
  startTimeUnixNano?: unknown
  start_time_unix_nano?: unknown
  endTimeUnixNano?: unknown
  end_time_unix_nano?: unknown
  attributes?: unknown
  droppedAttributesCount?: unknown
  dropped_attributes_count?: unknown
  events?: unknown
  droppedEventsCount?: unknown
  dropped_events_count?: unknown
  links?: unknown
  droppedLinksCount?: unknown
  dropped_links_count?: unknown
  status?: unknown
}

/** Reads a span; rejects it and returns undefined when its ids or times are invalid. */
export function readJsonSpan(raw: unknown, ids: JsonIds, tally: Tally): OtlpSpan | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return rejected(tally, 'invalid_item', 'the span is not an object')
  }
  const json = raw as JsonSpan
  const span = emptySpan()
  if (!readIds(json, span, ids, tally) || !readTimes(json, span, tally)) return undefined
  span.trace_state = textOf(json.traceState ?? json.trace_state, tally)
  span.flags = uint32Of(json.flags, tally)
  span.name = textOf(json.name, tally)
  span.kind = spanKindOf(json.kind, tally)
  readStatus(json.status, span, tally)
  const attributesCut = readAttributes(json.attributes, span.attributes, tally)
  const attributesDropped = json.droppedAttributesCount ?? json.dropped_attributes_count
  span.dropped_attributes_count = droppedCount(uint32Of(attributesDropped, tally), attributesCut)
  const eventsCut = readEvents(json.events, span.events, tally)
  const eventsDropped = json.droppedEventsCount ?? json.dropped_events_count
  span.dropped_events_count = droppedCount(uint32Of(eventsDropped, tally), eventsCut)
  const linksCut = readLinks(json.links, span.links, ids, tally)
  const linksDropped = json.droppedLinksCount ?? json.dropped_links_count
  span.dropped_links_count = droppedCount(uint32Of(linksDropped, tally), linksCut)
  return span
}

function readIds(json: JsonSpan, span: OtlpSpan, ids: JsonIds, tally: Tally): boolean {
  const traceId = json.traceId ?? json.trace_id
  span.trace_id = ids.traceId(traceId, tally)
  if (span.trace_id === '') {
    tally.reject('invalid_trace_id', `trace_id ${idFault(traceId, 32)}`)
    return false
  }
  const spanId = json.spanId ?? json.span_id
  span.span_id = ids.spanId(spanId, tally)
  if (span.span_id === '') {
    tally.reject('invalid_span_id', `span_id ${idFault(spanId, 16)}`)
    return false
  }
  const parentId = json.parentSpanId ?? json.parent_span_id
  if (parentId === undefined || parentId === null || parentId === '') return true
  span.parent_span_id = ids.spanId(parentId, tally)
  if (span.parent_span_id === '') tally.warn('invalid_parent_id')
  return true
}

function readTimes(json: JsonSpan, span: OtlpSpan, tally: Tally): boolean {
  const start = timeOf(json.startTimeUnixNano ?? json.start_time_unix_nano, tally)
  const end = timeOf(json.endTimeUnixNano ?? json.end_time_unix_nano, tally)
  if (start === undefined || end === undefined) {
    const field = start === undefined ? 'start_time_unix_nano' : 'end_time_unix_nano'
    tally.reject('invalid_time', `${field} is not a whole number of nanoseconds`)
    return false
  }
  span.start_time = start
  span.end_time = end
  return true
}

function readStatus(raw: unknown, span: OtlpSpan, tally: Tally): void {
  const status = objectOf(raw, tally) as { code?: unknown; message?: unknown } | undefined
  if (status === undefined) return
  span.status_code = statusCodeOf(status.code, tally)
  span.status_message = textOf(status.message, tally)
}

function rejected(tally: Tally, reason: string, detail: string): undefined {
  tally.reject(reason, detail)
  return undefined
}

type JsonEvent = {
  timeUnixNano?: unknown
  time_unix_nano?: unknown
  name?: unknown
  attributes?: unknown
  droppedAttributesCount?: unknown
  dropped_attributes_count?: unknown
}

type JsonLink = {
  traceId?: unknown
  trace_id?: unknown
  spanId?: unknown
  span_id?: unknown
  traceState?: unknown
  trace_state?: unknown
  attributes?: unknown
  droppedAttributesCount?: unknown
  dropped_attributes_count?: unknown
}

/** Reads the events of a span. Returns how many exceeded the limits. */
function readEvents(raw: unknown, events: OtlpEvent[], tally: Tally): number {
  const items = listOf(raw, tally)
  for (let i = 0; i < items.length; i++) {
    if (events.length >= tally.limits.events_per_span || !tally.takesCompound()) {
      return items.length - i
    }
    const json = objectOf(items[i], tally)
    if (json !== undefined) events.push(readEvent(json, tally))
  }
  return 0
}

/** Reads the links of a span that have valid ids. Returns how many exceeded the limits. */
function readLinks(raw: unknown, links: OtlpLink[], ids: JsonIds, tally: Tally): number {
  const items = listOf(raw, tally)
  for (let i = 0; i < items.length; i++) {
    if (links.length >= tally.limits.links_per_span || !tally.takesCompound())
      return items.length - i
    const json = objectOf(items[i], tally)
    if (json === undefined) continue
    const link = readLink(json, ids, tally)
    if (link.trace_id !== '' && link.span_id !== '') links.push(link)
    else tally.warn('invalid_link_id')
  }
  return 0
}

function readEvent(json: JsonEvent, tally: Tally): OtlpEvent {
  const event = emptyEvent()
  const time = timeOf(json.timeUnixNano ?? json.time_unix_nano, tally)
  if (time === undefined) tally.warn('invalid_time')
  else event.time = time
  event.name = textOf(json.name, tally)
  const cut = readAttributes(json.attributes, event.attributes, tally)
  const dropped = json.droppedAttributesCount ?? json.dropped_attributes_count
  event.dropped_attributes_count = droppedCount(uint32Of(dropped, tally), cut)
  return event
}

function readLink(json: JsonLink, ids: JsonIds, tally: Tally): OtlpLink {
  const link = emptyLink()
  link.trace_id = ids.traceId(json.traceId ?? json.trace_id, tally)
  link.span_id = ids.spanId(json.spanId ?? json.span_id, tally)
  link.trace_state = textOf(json.traceState ?? json.trace_state, tally)
  const cut = readAttributes(json.attributes, link.attributes, tally)
  const dropped = json.droppedAttributesCount ?? json.dropped_attributes_count
  link.dropped_attributes_count = droppedCount(uint32Of(dropped, tally), cut)
  return link
}

type JsonLogRecord = {
  traceId?: unknown
  trace_id?: unknown
  spanId?: unknown
  span_id?: unknown
  timeUnixNano?: unknown
  time_unix_nano?: unknown
  observedTimeUnixNano?: unknown
  observed_time_unix_nano?: unknown
  eventName?: unknown
  event_name?: unknown
  severityNumber?: unknown
  severity_number?: unknown
  severityText?: unknown
  severity_text?: unknown
  body?: unknown
  attributes?: unknown
  droppedAttributesCount?: unknown
  dropped_attributes_count?: unknown
  flags?: unknown
}

/**
 * Reads a log record; rejects it and returns undefined when it is not an object or its times are
 * invalid.
 */
export function readJsonLogRecord(
  raw: unknown,
  ids: JsonIds,
  tally: Tally,
): OtlpLogRecord | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    tally.reject('invalid_item', 'the log record is not an object')
    return undefined
  }
  const json = raw as JsonLogRecord
  const record = emptyLogRecord()
  if (!readRecordTimes(json, record, tally)) return undefined
  readRecordIds(json, record, ids, tally)
  record.event_name = textOf(json.eventName ?? json.event_name, tally)
  record.severity_number = severityNumberOf(json.severityNumber ?? json.severity_number, tally)
  record.severity_text = textOf(json.severityText ?? json.severity_text, tally)
  record.body = readAnyValue(json.body, 0, tally)
  record.flags = uint32Of(json.flags, tally)
  const cut = readAttributes(json.attributes, record.attributes, tally)
  const dropped = json.droppedAttributesCount ?? json.dropped_attributes_count
  record.dropped_attributes_count = droppedCount(uint32Of(dropped, tally), cut)
  finishLogRecord(record, tally)
  return record
}

function readRecordTimes(json: JsonLogRecord, record: OtlpLogRecord, tally: Tally): boolean {
  const time = timeOf(json.timeUnixNano ?? json.time_unix_nano, tally)
  const observed = timeOf(json.observedTimeUnixNano ?? json.observed_time_unix_nano, tally)
  if (time === undefined || observed === undefined) {
    const field = time === undefined ? 'time_unix_nano' : 'observed_time_unix_nano'
    tally.reject('invalid_time', `${field} is not a whole number of nanoseconds`)
    return false
  }
  record.time = time
  record.observed_time = observed
  return true
}

/** Reads the ids; invalid ones are dropped with a warning, and the record belongs to no span. */
function readRecordIds(
  json: JsonLogRecord,
  record: OtlpLogRecord,
  ids: JsonIds,
  tally: Tally,
): void {
  const traceId = json.traceId ?? json.trace_id ?? ''
  record.trace_id = ids.traceId(traceId, tally)
  if (record.trace_id === '' && traceId !== '') tally.warn('invalid_trace_id')
  const spanId = json.spanId ?? json.span_id ?? ''
  record.span_id = ids.spanId(spanId, tally)
  if (record.span_id === '' && spanId !== '') tally.warn('invalid_span_id')
}

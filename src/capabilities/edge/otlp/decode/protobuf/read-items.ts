import type { OtlpEvent, OtlpLink, OtlpLogRecord, OtlpSpan } from '../../contract.ts'
import {
  droppedCount,
  emptyEvent,
  emptyLink,
  emptyLogRecord,
  emptySpan,
  finishLogRecord,
  severityNumber,
  spanKind,
  statusCode,
} from '../items.ts'
import { readAnyValueField, readAttribute } from './any-value.ts'
import { missingId, readParentId, readSpanId, readText, readTraceId } from './read-scalars.ts'
import type { WireReader } from './wire-reader.ts'

const spanFields = 0x1_fffe
const statusFields = 0b1100

/** Counts of the parts of one span that exceeded the limits. */
type Cut = { attributes: number; events: number; links: number }

/** Reads the fields of a Span; rejects it and returns undefined when its ids are invalid. */
export function readSpan(wire: WireReader): OtlpSpan | undefined {
  const span = emptySpan()
  let traceFault = missingId
  let spanFault = missingId
  const cut = { attributes: 0, events: 0, links: 0 }
  while (wire.position < wire.end) {
    const tag = wire.tag('Span')
    switch (tag) {
      case 10:
        span.trace_id = readTraceId(wire, 'Span.trace_id')
        traceFault = wire.idFault
        break
      case 18:
        span.span_id = readSpanId(wire, 'Span.span_id')
        spanFault = wire.idFault
        break
      case 42:
        span.name = readText(wire, 'Span.name')
        break
      case 57:
        span.start_time = wire.fixed64('Span.start_time_unix_nano')
        break
      case 65:
        span.end_time = wire.fixed64('Span.end_time_unix_nano')
        break
      case 74:
        cut.attributes += readAttribute(wire, 'Span.attributes', span.attributes)
        break
      default:
        readMore(wire, tag, span, cut)
    }
  }
  span.dropped_attributes_count = droppedCount(span.dropped_attributes_count, cut.attributes)
  span.dropped_events_count = droppedCount(span.dropped_events_count, cut.events)
  span.dropped_links_count = droppedCount(span.dropped_links_count, cut.links)
  if (span.trace_id === '') return rejected(wire, 'invalid_trace_id', `trace_id ${traceFault}`)
  if (span.span_id === '') return rejected(wire, 'invalid_span_id', `span_id ${spanFault}`)
  return span
}

/** Reads the fields that are absent from most spans or occur once. */
function readMore(wire: WireReader, tag: number, span: OtlpSpan, cut: Cut): void {
  switch (tag) {
    case 26:
      span.trace_state = readText(wire, 'Span.trace_state')
      break
    case 34:
      span.parent_span_id = readParentId(wire, 'Span.parent_span_id')
      break
    case 48:
      span.kind = spanKind(wire.varint('Span.kind'), wire.tally)
      break
    case 80:
      span.dropped_attributes_count = wire.varint('Span.dropped_attributes_count')
      break
    case 90:
      cut.events += readEvent(wire, span)
      break
    case 96:
      span.dropped_events_count = wire.varint('Span.dropped_events_count')
      break
    case 106:
      cut.links += readLink(wire, span)
      break
    case 112:
      span.dropped_links_count = wire.varint('Span.dropped_links_count')
      break
    case 122:
      readStatus(wire, span)
      break
    case 133:
      span.flags = wire.fixed32('Span.flags')
      break
    default:
      wire.skip(tag, 'Span', spanFields)
  }
}

function readStatus(wire: WireReader, span: OtlpSpan): void {
  const around = wire.enter('Span.status')
  while (wire.position < wire.end) {
    const tag = wire.tag('Status')
    if (tag === 18) span.status_message = readText(wire, 'Status.message')
    else if (tag === 24) span.status_code = statusCode(wire.varint('Status.code'), wire.tally)
    else wire.skip(tag, 'Status', statusFields)
  }
  wire.leave(around)
}

function rejected(wire: WireReader, reason: string, detail: string): undefined {
  wire.tally.reject(reason, detail)
  return undefined
}

const eventFields = 0b1_1110
const linkFields = 0b111_1110

/** Reads one of `Span.events` into the span. Returns how many exceeded the limits: 1 or 0. */
function readEvent(wire: WireReader, span: OtlpSpan): 0 | 1 {
  const full = span.events.length >= wire.tally.limits.events_per_span
  if (full || !wire.tally.takesCompound()) {
    wire.position = wire.until('Span.events')
    return 1
  }
  const around = wire.enter('Span.events')
  const event = emptyEvent()
  readEventFields(wire, event)
  wire.leave(around)
  span.events.push(event)
  return 0
}

/**
 * Reads one of `Span.links` into the span, unless its ids are invalid. Returns how many exceeded
 * the limits: 1 or 0.
 */
function readLink(wire: WireReader, span: OtlpSpan): 0 | 1 {
  const full = span.links.length >= wire.tally.limits.links_per_span
  if (full || !wire.tally.takesCompound()) {
    wire.position = wire.until('Span.links')
    return 1
  }
  const around = wire.enter('Span.links')
  const link = emptyLink()
  readLinkFields(wire, link)
  wire.leave(around)
  if (link.trace_id !== '' && link.span_id !== '') span.links.push(link)
  else wire.tally.warn('invalid_link_id')
  return 0
}

function readEventFields(wire: WireReader, event: OtlpEvent): void {
  let cut = 0
  while (wire.position < wire.end) {
    const tag = wire.tag('Event')
    if (tag === 9) event.time = wire.fixed64('Event.time_unix_nano')
    else if (tag === 18) event.name = readText(wire, 'Event.name')
    else if (tag === 26) cut += readAttribute(wire, 'Event.attributes', event.attributes)
    else if (tag === 32) {
      event.dropped_attributes_count = wire.varint('Event.dropped_attributes_count')
    } else wire.skip(tag, 'Event', eventFields)
  }
  event.dropped_attributes_count = droppedCount(event.dropped_attributes_count, cut)
}

function readLinkFields(wire: WireReader, link: OtlpLink): void {
  let cut = 0
  while (wire.position < wire.end) {
    const tag = wire.tag('Link')
    if (tag === 10) link.trace_id = readTraceId(wire, 'Link.trace_id')
    else if (tag === 18) link.span_id = readSpanId(wire, 'Link.span_id')
    else if (tag === 26) link.trace_state = readText(wire, 'Link.trace_state')
    else if (tag === 34) cut += readAttribute(wire, 'Link.attributes', link.attributes)
    else if (tag === 40) {
      link.dropped_attributes_count = wire.varint('Link.dropped_attributes_count')
    } else if (tag === 53) wire.fixed32('Link.flags')
    else wire.skip(tag, 'Link', linkFields)
  }
  link.dropped_attributes_count = droppedCount(link.dropped_attributes_count, cut)
}

const logRecordFields = 0b1_1111_1110_1110

/**
 * Reads the fields of a LogRecord. Invalid ids are dropped with a warning; the record then belongs
 * to no span.
 */
export function readLogRecord(wire: WireReader): OtlpLogRecord {
  const record = emptyLogRecord()
  let cut = 0
  while (wire.position < wire.end) {
    const tag = wire.tag('LogRecord')
    switch (tag) {
      case 9:
        record.time = wire.fixed64('LogRecord.time_unix_nano')
        break
      case 42:
        record.body = readAnyValueField(wire, 'LogRecord.body', record.body)
        break
      case 50:
        cut += readAttribute(wire, 'LogRecord.attributes', record.attributes)
        break
      case 74:
        record.trace_id = readTraceId(wire, 'LogRecord.trace_id')
        warnOfId(wire, record.trace_id, 'invalid_trace_id')
        break
      case 82:
        record.span_id = readSpanId(wire, 'LogRecord.span_id')
        warnOfId(wire, record.span_id, 'invalid_span_id')
        break
      default:
        readRecordMore(wire, tag, record)
    }
  }
  record.dropped_attributes_count = droppedCount(record.dropped_attributes_count, cut)
  finishLogRecord(record, wire.tally)
  return record
}

function readRecordMore(wire: WireReader, tag: number, record: OtlpLogRecord): void {
  switch (tag) {
    case 16:
      record.severity_number = severityNumber(wire.varint('LogRecord.severity_number'), wire.tally)
      break
    case 26:
      record.severity_text = readText(wire, 'LogRecord.severity_text')
      break
    case 56:
      record.dropped_attributes_count = wire.varint('LogRecord.dropped_attributes_count')
      break
    case 69:
      record.flags = wire.fixed32('LogRecord.flags')
      break
    case 89:
      record.observed_time = wire.fixed64('LogRecord.observed_time_unix_nano')
      break
    case 98:
      record.event_name = readText(wire, 'LogRecord.event_name')
      break
    default:
      wire.skip(tag, 'LogRecord', logRecordFields)
  }
}

function warnOfId(wire: WireReader, id: string, warning: string): void {
  if (id === '' && wire.idFault !== missingId) wire.tally.warn(warning)
}

import type { OtlpSpan } from '../../contract.ts'
import { emptySpan } from '../empty-items.ts'
import { droppedCount, spanKind, statusCode } from '../enums.ts'
import { readAttribute } from './any-value.ts'
import { missingId, readParentId, readSpanId, readTraceId } from './read-ids.ts'
import { readEvent, readLink } from './read-span-parts.ts'
import { readText } from './read-text.ts'
import type { WireReader } from './wire-reader.ts'

const spanFields = 0x1_fffe
const statusFields = 0b1100

/** What the limits dropped of one span. */
type Cut = { attributes: number; events: number; links: number }

/** Reads the fields of a Span; undefined when its ids are invalid, and then it is rejected. */
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

/** The fields that most spans are without, or have once. */
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

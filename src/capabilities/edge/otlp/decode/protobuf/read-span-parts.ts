import type { OtlpEvent, OtlpLink, OtlpSpan } from '../../contract.ts'
import { emptyEvent, emptyLink } from '../empty-items.ts'
import { droppedCount } from '../enums.ts'
import { readAttribute } from './any-value.ts'
import { readSpanId, readTraceId } from './read-ids.ts'
import { readText } from './read-text.ts'
import type { WireReader } from './wire-reader.ts'

const eventFields = 0b1_1110
const linkFields = 0b111_1110

/** Reads one of `Span.events` into the span. Returns how many the limits dropped: 1 or 0. */
export function readEvent(wire: WireReader, span: OtlpSpan): 0 | 1 {
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
 * Reads one of `Span.links` into the span, unless its ids are invalid. Returns how many
 * the limits dropped: 1 or 0.
 */
export function readLink(wire: WireReader, span: OtlpSpan): 0 | 1 {
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

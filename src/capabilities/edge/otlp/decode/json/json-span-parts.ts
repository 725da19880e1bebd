import type { OtlpEvent, OtlpLink } from '../../contract.ts'
import { emptyEvent, emptyLink } from '../empty-items.ts'
import { droppedCount } from '../enums.ts'
import type { Tally } from '../tally.ts'
import type { JsonIds } from './json-ids.ts'
import { listOf, objectOf, textOf, timeOf, uint32Of } from './json-scalars.ts'
import { readAttributes } from './json-values.ts'

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

/** Reads the events of a span. Returns how many the limits dropped. */
export function readEvents(raw: unknown, events: OtlpEvent[], tally: Tally): number {
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

/** Reads the links of a span, but for those with invalid ids. Returns how many the limits dropped. */
export function readLinks(raw: unknown, links: OtlpLink[], ids: JsonIds, tally: Tally): number {
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

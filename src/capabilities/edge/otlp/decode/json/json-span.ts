import type { OtlpSpan } from '../../contract.ts'
import { emptySpan } from '../empty-items.ts'
import { droppedCount } from '../enums.ts'
import type { Tally } from '../tally.ts'
import { spanKindOf, statusCodeOf } from './json-enums.ts'
import { idFault, type JsonIds } from './json-ids.ts'
import { objectOf, textOf, timeOf, uint32Of } from './json-scalars.ts'
import { readEvents, readLinks } from './json-span-parts.ts'
import { readAttributes } from './json-values.ts'

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

/** Reads a span; undefined when its ids or its times are invalid, and then it is rejected. */
export function readJsonSpan(raw: unknown, ids: JsonIds, tally: Tally): OtlpSpan | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return rejected(tally, 'invalid_item', 'the span is no object')
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
    tally.reject('invalid_time', `${field} is no whole number of nanoseconds`)
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

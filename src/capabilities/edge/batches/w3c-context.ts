import type { RequestHeaders } from '../../../platform/http/index.ts'
import { traceparentField } from '../../records/schema/index.ts'

/** Fields of W3C Trace Context and Baggage; an empty text means unknown. */
export type W3cContext = { traceparent: string; tracestate: string; baggage: string }

/** The fields as a client may send them in a record or a batch. */
type W3cFields = {
  traceparent?: string | null | undefined
  tracestate?: string | null | undefined
  baggage?: string | null | undefined
}

/** Returns the context of all traces of a batch: its fields, else its headers. */
export function readW3c(fields: W3cFields, headers: RequestHeaders): W3cContext {
  const traceparent = fields.traceparent ?? joinHeader(headers['traceparent'])
  return {
    // An invalid traceparent in header or field is ignored, as W3C asks.
    traceparent: traceparentField.safeParse(traceparent).success ? traceparent : '',
    tracestate: withoutNul(fields.tracestate ?? joinHeader(headers['tracestate'])),
    baggage: withoutNul(fields.baggage ?? joinHeader(headers['baggage'])),
  }
}

/** Calls `add` with the type and value of each correlation of a context; runs for each record. */
export function eachW3cValue(
  fields: W3cFields,
  add: (correlation_type: string, correlation_value: string) => void,
): void {
  if (fields.traceparent) add('w3c_traceparent', fields.traceparent)
  if (fields.tracestate) add('w3c_tracestate', wholeMembers(fields.tracestate))
  if (fields.baggage) add('w3c_baggage', wholeMembers(fields.baggage))
}

const value_characters_max = 2048

/** Cuts a list that is too long for a correlation, between two of its members. */
function wholeMembers(list: string): string {
  if (list.length <= value_characters_max) return list
  const end = list.lastIndexOf(',', value_characters_max)
  return list.slice(0, end > 0 ? end : value_characters_max)
}

function joinHeader(header: string | string[] | undefined): string {
  return Array.isArray(header) ? header.join(',') : (header ?? '')
}

function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '')
}

import type { RequestHeaders } from '../../../platform/http/index.ts'
import { traceparentField } from '../../records/schema/index.ts'

/** Where something belongs in W3C's world; an empty text is not known. */
export type W3cContext = { traceparent: string; tracestate: string; baggage: string }

/** The fields of a record or a batch, as a client may send them. */
type W3cFields = {
  traceparent?: string | null | undefined
  tracestate?: string | null | undefined
  baggage?: string | null | undefined
}

/** What a batch says of all its traces: its fields, and its headers where it has none. */
export function w3cOfBatch(fields: W3cFields, headers: RequestHeaders): W3cContext {
  const traceparent = fields.traceparent ?? single(headers['traceparent'])
  return {
    // Header or field, what is no traceparent is as good as none (W3C says: ignore it).
    traceparent: traceparentField.safeParse(traceparent).success ? traceparent : '',
    tracestate: storable(fields.tracestate ?? single(headers['tracestate'])),
    baggage: storable(fields.baggage ?? single(headers['baggage'])),
  }
}

/** The types and values of the correlations that a context makes; called for each record. */
export function eachW3cValue(
  fields: W3cFields,
  add: (correlation_type: string, correlation_value: string) => void,
): void {
  if (fields.traceparent) add('w3c_traceparent', fields.traceparent)
  if (fields.tracestate) add('w3c_tracestate', wholeMembers(fields.tracestate))
  if (fields.baggage) add('w3c_baggage', wholeMembers(fields.baggage))
}

const value_characters_max = 2048

/** Cuts a list of members between two of them, where it is too long for a correlation. */
function wholeMembers(list: string): string {
  if (list.length <= value_characters_max) return list
  const end = list.lastIndexOf(',', value_characters_max)
  return list.slice(0, end > 0 ? end : value_characters_max)
}

function single(header: string | string[] | undefined): string {
  return Array.isArray(header) ? header.join(',') : (header ?? '')
}

function storable(text: string): string {
  return text.replaceAll('\u0000', '')
}

/** What a decoder takes from one export request; what is beyond is counted, never kept. */
export type DecodeLimits = {
  /** Attributes of one span, event, link, log record, resource or scope; the rest is dropped. */
  attributes_per_item: number
  /** Events of one span; the rest is dropped. */
  events_per_span: number
  /** Links of one span; the rest is dropped. */
  links_per_span: number
  /** Lists and maps around a value; a deeper value becomes the text `[too deep]`. */
  value_levels: number
  /** Spans or log records of one request; the rest is rejected with `too_many_items`. */
  items_per_request: number
  /** Values of one request, wherever they are; an event, a link or a map counts as four. */
  values_per_request: number
  /** Braces and brackets that open in one JSON body, in its text too; more is no request. */
  json_openings_per_request: number
}

/**
 * 1,000 attributes, events and links are eight times what SDKs send by default (128 of each).
 * 32 levels hold any message of a provider and are far from the end of the stack.
 * 100,000 items are two hundred times the batch of an SDK; a Collector sends 8,192.
 * 4,000,000 values are 40 for each of those items, and bound what two bytes of a hostile body can
 * grow to: at most some 200 MB of heap for the 64 MiB that the receiver takes.
 * 8,000,000 openings are one for 8 bytes of such a body; prose that quotes JSON has one for 20. Each
 * may be an object of 64 bytes once it is parsed, before anything else can be counted.
 */
export const defaultDecodeLimits: DecodeLimits = {
  attributes_per_item: 1_000,
  events_per_span: 1_000,
  links_per_span: 1_000,
  value_levels: 32,
  items_per_request: 100_000,
  values_per_request: 4_000_000,
  json_openings_per_request: 8_000_000,
}

/** What stands in the place of a value that is nested deeper than `value_levels`. */
export const tooDeep = '[too deep]'

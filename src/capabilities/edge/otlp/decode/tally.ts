import type { OtlpGroup, OtlpRequest } from '../contract.ts'

/** An event, a link or a map: itself, its attributes, their keys and their values. */
const valuesOfCompound = 4

/** Counts what is found in one export request while it is decoded, and holds it to the limits. */
export class Tally {
  readonly limits: DecodeLimits
  items = 0
  /** Values that may still be kept. */
  valuesLeft: number
  firstRejection = ''
  readonly rejected = new Map<string, number>()
  readonly warnings = new Map<string, number>()

  constructor(limits: DecodeLimits) {
    this.limits = limits
    this.valuesLeft = limits.values_per_request
  }

  /** Counts one more item; false when it is one too many, and then it is rejected already. */
  takesItem(): boolean {
    this.items++
    const most = this.limits.items_per_request
    if (this.items <= most && this.valuesLeft > 0) return true
    this.reject(
      'too_many_items',
      this.items > most
        ? `a request takes ${most} items`
        : `a request takes ${this.limits.values_per_request} values`,
    )
    return false
  }

  /** Takes one value out of what a request may hold; false when none is left. */
  takesValue(): boolean {
    return --this.valuesLeft >= 0
  }

  /** Takes an event, a link or a map, which are several objects each. */
  takesCompound(): boolean {
    this.valuesLeft -= valuesOfCompound
    return this.valuesLeft >= 0
  }

  warn(name: string): void {
    this.warnings.set(name, (this.warnings.get(name) ?? 0) + 1)
  }

  /** Rejects the item that was counted last. */
  reject(reason: string, detail: string): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1)
    if (this.firstRejection === '') this.firstRejection = `item ${this.items}: ${detail}`
  }

  /** The decoded request. */
  request<Item>(groups: OtlpGroup<Item>[]): OtlpRequest<Item> {
    return {
      groups,
      items: this.items,
      rejected: this.rejected,
      first_rejection: this.firstRejection,
      warnings: this.warnings,
    }
  }
}

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

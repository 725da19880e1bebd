import type { OtlpGroup, OtlpRequest } from '../contract.ts'

/**
 * Values that an event, a link or a map counts for: itself, its attributes, their keys and values.
 */
const valuesOfCompound = 4

/** Counts the contents of one export request during decoding, and enforces the limits. */
export class Tally {
  readonly limits: DecodeLimits
  items = 0
  /** Remaining values within the limit. */
  valuesLeft: number
  firstRejection = ''
  readonly rejected = new Map<string, number>()
  readonly warnings = new Map<string, number>()

  constructor(limits: DecodeLimits) {
    this.limits = limits
    this.valuesLeft = limits.values_per_request
  }

  /** Counts one more item. Rejects it and returns false when it exceeds the limits. */
  takesItem(): boolean {
    this.items++
    const most = this.limits.items_per_request
    if (this.items <= most && this.valuesLeft > 0) return true
    this.reject(
      'too_many_items',
      this.items > most
        ? `a request may have at most ${most} items`
        : `a request may have at most ${this.limits.values_per_request} values`,
    )
    return false
  }

  /** Counts one more value. Returns false when it exceeds the limit. */
  takesValue(): boolean {
    return --this.valuesLeft >= 0
  }

  /** Counts an event, a link or a map, which are several objects each. */
  takesCompound(): boolean {
    this.valuesLeft -= valuesOfCompound
    return this.valuesLeft >= 0
  }

  warn(name: string): void {
    this.warnings.set(name, (this.warnings.get(name) ?? 0) + 1)
  }

  /** Rejects the last counted item. */
  reject(reason: string, detail: string): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1)
    if (this.firstRejection === '') this.firstRejection = `item ${this.items}: ${detail}`
  }

  /** Returns the decoded request. */
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

/** Limits on one export request. Everything beyond them is counted and dropped. */
export type DecodeLimits = {
  /**
   * Maximum attributes of one span, event, link, log record, resource or scope; the rest is
   * dropped.
   */
  attributes_per_item: number
  /** Maximum events of one span; the rest is dropped. */
  events_per_span: number
  /** Maximum links of one span; the rest is dropped. */
  links_per_span: number
  /** Maximum lists and maps around a value; a deeper value becomes the text `[too deep]`. */
  value_levels: number
  /** Maximum spans or log records of one request; the rest is rejected with `too_many_items`. */
  items_per_request: number
  /** Maximum values of one request, wherever they are; an event, a link or a map counts as four. */
  values_per_request: number
  /**
   * Maximum opening braces and brackets of a JSON body, including those in its texts; with more the
   * request is refused.
   */
  json_openings_per_request: number
}

/**
 * 1,000 attributes, events and links are eight times the defaults of SDKs (128 of each). 32 levels
 * hold any message of a provider and are far from a stack overflow. 100,000 items are two hundred
 * times the batch of an SDK; a Collector sends 8,192. 4,000,000 values are 40 for each of those
 * items. They limit what a hostile body, with two bytes a value, can grow to: about 200 MB of heap
 * for the 64 MiB that the receiver accepts. 8,000,000 openings are one for 8 bytes of such a body;
 * prose that quotes JSON has one for 20. Each may become an object of 64 bytes during parsing,
 * before anything else is counted.
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

/** Replaces a value that is nested deeper than `value_levels`. */
export const tooDeep = '[too deep]'

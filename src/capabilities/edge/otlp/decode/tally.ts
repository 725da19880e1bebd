import type { OtlpGroup, OtlpRequest } from '../contract.ts'
import type { DecodeLimits } from './limits.ts'

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

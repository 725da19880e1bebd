import type { IngestPath } from '../../model/ingest-records.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'

/** The request that a ledger entry of the edge belongs to. */
export type LedgerRequest = {
  project_id: string
  ingest_request_id: string
  path: IngestPath
  received_at_ms: number
}

const none: Readonly<Record<string, number>> = Object.freeze({})
const noRecords = Object.freeze({
  traces: 0,
  observations: 0,
  events: 0,
  links: 0,
  correlations: 0,
})

/** Returns the entry of items that are durable in a message. */
export function acceptedEntry(
  request: LedgerRequest,
  message_id: string,
  items: number,
  masked = 0,
): LedgerEntry {
  return createEntry(request, { message_id, items, masked, rejected: none, lost: none })
}

/** Returns the entry of items that the edge rejected, by reason. */
export function rejectedEntry(
  request: LedgerRequest,
  rejected: Readonly<Record<string, number>>,
  masked = 0,
): LedgerEntry {
  return createEntry(request, {
    message_id: '',
    masked,
    items: sum(rejected),
    rejected,
    lost: none,
  })
}

/** Returns the entry of items that the edge lost, by reason. */
export function lostEntry(
  request: LedgerRequest,
  lost: Readonly<Record<string, number>>,
): LedgerEntry {
  return createEntry(request, { message_id: '', masked: 0, items: sum(lost), rejected: none, lost })
}

function createEntry(
  request: LedgerRequest,
  fields: Pick<LedgerEntry, 'message_id' | 'items' | 'masked' | 'rejected' | 'lost'>,
): LedgerEntry {
  return {
    project_id: request.project_id,
    ingest_request_id: request.ingest_request_id,
    message_id: fields.message_id,
    side: 'accepted',
    path: request.path,
    received_at_ms: request.received_at_ms,
    items: fields.items,
    stored: 0,
    rejected: fields.rejected,
    lost: fields.lost,
    masked: fields.masked,
    records: noRecords,
    attempts: 0,
    settled_at_ms: 0,
    error_reason: '',
  }
}

function sum(counts: Readonly<Record<string, number>>): number {
  let total = 0
  for (const reason in counts) total += counts[reason] ?? 0
  return total
}

/**
 * Unpublished entries by project, at most `entries_max`. Beyond it, entries that only the edge
 * knows (rejected or lost items, which are in no message) are merged into one for each project,
 * path and day, which keeps their sums. If that is not enough, the oldest entries with a message
 * are dropped, because the worker reports those too.
 */
export class WaitingEntries {
  readonly #entries_max: number
  readonly #projects = new Map<string, LedgerEntry[]>()
  #size = 0

  constructor(entries_max: number) {
    this.#entries_max = entries_max
  }

  get size(): number {
    return this.#size
  }

  /** Adds entries. Returns how many were dropped. */
  add(entries: readonly LedgerEntry[]): number {
    for (const entry of entries) this.#listOf(entry.project_id).push(entry)
    this.#size += entries.length
    return this.#size > this.#entries_max ? this.#shrink() : 0
  }

  /** Removes and returns up to `count_max` entries of one project, which then moves to the end. */
  take(count_max: number): LedgerEntry[] {
    for (const [project_id, list] of this.#projects) {
      const taken = list.splice(0, count_max)
      this.#projects.delete(project_id)
      if (list.length > 0) this.#projects.set(project_id, list)
      this.#size -= taken.length
      return taken
    }
    return []
  }

  /** Puts back entries of one project that were taken last. */
  putBack(entries: readonly LedgerEntry[]): void {
    const [first] = entries
    if (first === undefined) return
    this.#listOf(first.project_id).unshift(...entries)
    this.#size += entries.length
  }

  #listOf(project_id: string): LedgerEntry[] {
    const known = this.#projects.get(project_id)
    if (known) return known
    const list: LedgerEntry[] = []
    this.#projects.set(project_id, list)
    return list
  }

  /** Shrinks to nine tenths of the limit, so that it runs rarely. */
  #shrink(): number {
    const wanted = Math.floor(this.#entries_max * 0.9)
    for (const [project_id, list] of this.#projects) {
      const merged = mergeWithoutMessage(list)
      this.#size += merged.length - list.length
      this.#projects.set(project_id, merged)
    }
    let dropped = 0
    for (const [project_id, list] of this.#projects) {
      if (this.#size <= wanted) break
      const kept = dropOldest(list, this.#size - wanted)
      dropped += list.length - kept.length
      this.#size -= list.length - kept.length
      if (kept.length > 0) this.#projects.set(project_id, kept)
      else this.#projects.delete(project_id)
    }
    return dropped
  }
}

const day_ms = 86_400_000

/** Merges entries without a message; keeps the others in order. */
function mergeWithoutMessage(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const sums = new Map<string, LedgerEntry>()
  const kept: LedgerEntry[] = []
  for (const entry of entries) {
    if (entry.message_id !== '') {
      kept.push(entry)
      continue
    }
    const key = `${entry.path} ${Math.floor(entry.received_at_ms / day_ms)}`
    const sum = sums.get(key)
    sums.set(key, sum === undefined ? entry : mergeEntries(sum, entry))
  }
  return [...sums.values(), ...kept]
}

/** Drops up to `tooMany` entries with a message. */
function dropOldest(entries: readonly LedgerEntry[], tooMany: number): LedgerEntry[] {
  let left = tooMany
  return entries.filter(({ message_id }) => {
    if (message_id === '' || left === 0) return true
    left -= 1
    return false
  })
}

function mergeEntries(sum: LedgerEntry, entry: LedgerEntry): LedgerEntry {
  return {
    ...sum,
    items: sum.items + entry.items,
    masked: sum.masked + entry.masked,
    rejected: sumOfCounts(sum.rejected, entry.rejected),
    lost: sumOfCounts(sum.lost, entry.lost),
  }
}

function sumOfCounts(
  left: Readonly<Record<string, number>>,
  right: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum: Record<string, number> = { ...left }
  for (const reason in right) sum[reason] = (sum[reason] ?? 0) + (right[reason] ?? 0)
  return sum
}

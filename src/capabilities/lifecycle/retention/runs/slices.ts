import type { HeldBy, OpenSlice, RetentionSlice, RetentionStore } from '../../../storage/index.ts'
import { retentionIds_max } from '../../../storage/index.ts'

const day_ns = 86_400_000_000_000n

/** Returns the window of a UTC day, in nanoseconds since 1970. */
export function windowOf(day: number): { from: bigint; to: bigint } {
  const from = BigInt(day) * day_ns
  return { from, to: from + day_ns }
}

/**
 * Parts of a slice with their held traces, and parts with more held traces than fit a statement.
 */
export type HeldSlices = { slices: RetentionSlice[]; kept: OpenSlice[] }

/**
 * Cuts a slice into parts and reads the held traces of each part. A statement can name a limited
 * number of traces, so parts with more held traces are halve. A part of one millisecond that still
 * has more is kept, so none of its rows is deleted.
 */
export async function withHolds(
  store: Pick<RetentionStore, 'heldTraces'>,
  slice: OpenSlice,
  holds: readonly HeldBy[],
): Promise<HeldSlices> {
  const found: HeldSlices = { slices: [], kept: [] }
  const waiting = [slice]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const held_trace_ids = holds.length === 0 ? [] : await store.heldTraces(part, holds)
    if (held_trace_ids.length <= retentionIds_max) {
      found.slices.push({ ...part, held_trace_ids })
      continue
    }
    const halves = halve(part)
    if (halves === undefined) found.kept.push(part)
    else waiting.push(...halves)
  }
  return found
}

const shortest_ns = 1_000_000n

/** Splits a slice into two without common rows; undefined when it is too short. */
export function halve<Slice extends Pick<OpenSlice, 'from' | 'to'>>(
  slice: Slice,
): [Slice, Slice] | undefined {
  const { from, to } = slice
  if (to - from <= shortest_ns) return undefined
  const middle = middleOf(from, to)
  return [
    { ...slice, from: middle },
    { ...slice, to: middle },
  ]
}

/**
 * Returns the point at which a window is split: at midnight when it has several days. Records count
 * once a day, so a day that is not split has the same counts alone and among others.
 */
function middleOf(from: bigint, to: bigint): bigint {
  const middle = from + (to - from) / 2n
  if (to - from <= day_ns) return middle
  const midnight = (middle / day_ns) * day_ns
  return midnight > from ? midnight : midnight + day_ns
}

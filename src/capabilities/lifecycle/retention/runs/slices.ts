import type { HeldBy, OpenSlice, RetentionSlice, RetentionStore } from '../../../storage/index.ts'
import { retentionIds_max } from '../../../storage/index.ts'

const day_ns = 86_400_000_000_000n

/** The whole of a UTC day, in nanoseconds since 1970. */
export function windowOf(day: number): { from: bigint; to: bigint } {
  const from = BigInt(day) * day_ns
  return { from, to: from + day_ns }
}

/** A part of a slice whose held traces are known, and those that no statement could name. */
export type HeldSlices = { slices: RetentionSlice[]; kept: OpenSlice[] }

/**
 * Cuts a slice into parts of each of which it is known what is held: a statement names so many
 * traces and no more, so a part with more of them is halved. One that is a millisecond short and
 * still has more stays as it is.
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
    const halves = halved(part)
    if (halves === undefined) found.kept.push(part)
    else waiting.push(...halves)
  }
  return found
}

const shortest_ns = 1_000_000n

/** Two slices with no row in common that have all rows of the one; undefined when it is too short. */
export function halved<Slice extends Pick<OpenSlice, 'from' | 'to'>>(
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
 * Days are kept whole as long as there are several: a record counts once a day, so a day is counted
 * alike whether it is alone or among others.
 */
function middleOf(from: bigint, to: bigint): bigint {
  const middle = from + (to - from) / 2n
  if (to - from <= day_ns) return middle
  const midnight = (middle / day_ns) * day_ns
  return midnight > from ? midnight : midnight + day_ns
}

import type { Observation } from '../../../model/observation.ts'

/** Days of one insert. Each is a partition, and makes a part of its own: 10 ms of the engine. */
const days_max = 50

const day_ns = 86_400_000_000_000n

/**
 * What one insert is given, of a batch that may be about hundreds of days (a history that is sent
 * late, or clocks that are wrong): in one statement it could take longer than a statement may, again
 * and again. The same batch always makes the same inserts.
 */
export function byDays(observations: readonly Observation[]): readonly (readonly Observation[])[] {
  const days = Map.groupBy(observations, ({ start_time }) => start_time / day_ns)
  if (days.size <= days_max) return [observations]
  const inOrder = [...days.values()]
  const batches: Observation[][] = []
  for (let at = 0; at < inOrder.length; at += days_max) {
    batches.push(inOrder.slice(at, at + days_max).flat())
  }
  return batches
}

import type { DeadLetter } from '../contract.ts'

/**
 * Merges the lists of partitions: oldest first, and in one millisecond by partition. The position of
 * a letter also names its partition and time, by which a page goes on in the others.
 */
export function mergeDeadLetters(
  lists: readonly (readonly DeadLetter[])[],
  limit: number,
): DeadLetter[] {
  const all = lists.flatMap((list, at) =>
    list.map((letter) => {
      const position = lists.length === 1 ? letter.position : toPosition(letter, at)
      return { ...letter, position }
    }),
  )
  // The sort is stable, so that letters of a partition keep their order.
  return all.toSorted((a, b) => compare(a.buried_at, b.buried_at)).slice(0, limit)
}

function toPosition({ position, buried_at }: DeadLetter, partition: number): string {
  return `${position}-${partition}-${Date.parse(buried_at)}`
}

/**
 * Returns the position in a partition after which a page goes on: a number, or `@` and the time from
 * which on letters are later in the list.
 */
export function positionIn(after: string, partition: number): string {
  const [position = '', own = '0', time = ''] = after.split('-')
  if (Number(own) === partition) return position
  // A position of a queue without partitions is one of the first.
  if (time === '') return '0'
  const later_ms = Number(time) + (partition < Number(own) ? 1 : 0)
  return Math.abs(later_ms) <= time_ms_max ? `@${new Date(later_ms).toISOString()}` : '0'
}

/** The last time of a Date. */
const time_ms_max = 8.64e15

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

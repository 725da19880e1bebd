import { decodeCursor, encodeCursor } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'

/** Where an entry stands: entries are ordered by these fields, first to last. */
export type TimelinePosition = {
  /** Nanoseconds since 1970. */
  time: bigint
  /** At one instant: the task's making, then its calls, then its end. */
  phase: number
  /** Start of the observation it was seen in; 0 for a state change. */
  start: bigint
  /** The observation's or the event's id. */
  id: string
  /** Order within an observation: results it brought, the call, tools it asked for. */
  slot: number
}

/** Below 0 when `a` comes first. */
export function comparePositions(a: TimelinePosition, b: TimelinePosition): number {
  return (
    order(a.time, b.time) ||
    a.phase - b.phase ||
    order(a.start, b.start) ||
    order(a.id, b.id) ||
    a.slot - b.slot
  )
}

/** Returns the cursor after an entry of a list, such as `timeline of task-1`. */
export function cursorAfter(list: string, position: TimelinePosition): string {
  const { time, phase, start, id, slot } = position
  return encodeCursor(list, [time.toString(), phase, start.toString(), id, slot])
}

/** Reads a cursor. Throws `invalid_cursor` for one of another list. */
export function positionIn(list: string, cursor: string): TimelinePosition {
  const [time, phase, start, id, slot] = decodeCursor(list, cursor, 5)
  if (
    isInstant(time) &&
    isInstant(start) &&
    typeof phase === 'number' &&
    typeof slot === 'number' &&
    typeof id === 'string'
  ) {
    return { time: BigInt(time), phase, start: BigInt(start), id, slot }
  }
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor as it was given`,
  })
}

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value)
}

function order<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

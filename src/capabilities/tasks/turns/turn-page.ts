import { decodeCursor, encodeCursor, invalidCursor } from '../../../kernel/pages.ts'
import type { ModelCall, TaskRun } from '../../detection/reconstruction/index.ts'

/** The position of a call in its task: calls are ordered by these fields. */
export type CallPosition = Pick<ModelCall, 'start_time' | 'observation_id' | 'trace_id'>

/** Returns up to `limit` calls after a position. A call that is recorded late moves no other call. */
export function selectCalls(
  { calls }: TaskRun,
  { after, limit }: { after: CallPosition | undefined; limit: number },
): readonly ModelCall[] {
  const from = after === undefined ? 0 : findAfter(calls, after)
  return calls.slice(from, from + limit)
}

/** Returns the index of the first call after a position, by bisection. */
function findAfter(calls: readonly ModelCall[], after: CallPosition): number {
  let [low, high] = [0, calls.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const call = calls[middle]
    if (call !== undefined && comparePositions(call, after) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

function comparePositions(a: CallPosition, b: CallPosition): number {
  return (
    compare(a.start_time, b.start_time) ||
    compare(a.observation_id, b.observation_id) ||
    compare(a.trace_id, b.trace_id)
  )
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns the cursor after a call. */
export function cursorAfterCall(list: string, call: CallPosition): string {
  return encodeCursor(list, [call.start_time.toString(), call.observation_id, call.trace_id])
}

/** Reads a cursor of the list. Throws `invalid_cursor`. */
export function callPositionIn(list: string, cursor: string): CallPosition {
  const [start, observation_id, trace_id] = decodeCursor(list, cursor, 3)
  const isStart = typeof start === 'string' && /^\d{1,20}$/.test(start)
  if (!isStart || typeof observation_id !== 'string' || typeof trace_id !== 'string') {
    throw invalidCursor(cursor)
  }
  return { start_time: BigInt(start), observation_id, trace_id }
}

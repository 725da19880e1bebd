import { traceIdFrom } from '../../kernel/ids.ts'
import { decodeCursor } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'

/** How a place of a position reads: nanoseconds as digits, a trace id, or any text. */
type Place = 'time' | 'trace_id' | 'text'
type Position<Places extends Readonly<Record<string, Place>>> = {
  [Name in keyof Places]: Places[Name] extends 'time' ? bigint : string
}

/**
 * Reads the position in a cursor of a list, whose places stand in this order. Throws
 * `invalid_cursor` for a cursor of another list, or one that is none of ours.
 */
export function positionIn<const Places extends Readonly<Record<string, Place>>>(
  list: string,
  cursor: string,
  places: Places,
): Position<Places> {
  const names = Object.keys(places)
  const values = decodeCursor(list, cursor, names.length)
  const read = names.map((name, index) => {
    const value = valueAt(places[name] ?? 'text', values[index])
    if (value !== undefined) return [name, value]
    throw problem('invalid_cursor', {
      detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor as it was given`,
    })
  })
  return Object.fromEntries(read)
}

function valueAt(place: Place, value: unknown): bigint | string | undefined {
  if (typeof value !== 'string') return undefined
  if (place === 'time') return /^\d{1,19}$/.test(value) ? nanoseconds(value) : undefined
  return place === 'trace_id' ? traceIdFrom(value) : value
}

/** ClickHouse's DateTime64(9) ends where signed 64 bits do. */
function nanoseconds(digits: string): bigint | undefined {
  const value = BigInt(digits)
  return value < 2n ** 63n ? value : undefined
}

import { z } from 'zod'
import { traceIdFrom } from '../../kernel/ids.ts'
import { decodeCursor } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import { expected } from '../../model/list-query.ts'

/** Fields of every record in replies. */
export const recordFields = {
  trace_id: z.guid().describe('W3C trace id, as a UUID.'),
  observation_id: z
    .string()
    .nullable()
    .describe('Observation id; null for a record of the whole trace.'),
  time: z.iso
    .datetime({ offset: false })
    .describe('Time, ISO 8601 in UTC, with up to nanoseconds.'),
  source: z.enum(['proxy', 'otlp', 'api']).describe('Ingest path.'),
}

/** Order of a list by time. */
export const orderParameter = z
  .enum(['asc', 'desc'], { error: expected('asc or desc') })
  .default('asc')
  .describe('`asc`: earliest first, `desc`: latest first.')

/** Fields of every page of a list, besides its items. */
export const pageFields = {
  total: z.int().nonnegative().describe('Records that match the filters.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe('`false`: more records match than `total`. Absent if `total` is exact.'),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
}

/** Returns stored text; null for '', which means unknown. */
export function textOrNull(text: string): string | null {
  return text === '' ? null : text
}

/** The type of a part of a position: nanoseconds as digits, a trace id, or any text. */
type PartType = 'time' | 'trace_id' | 'text'

type Position<Parts extends Readonly<Record<string, PartType>>> = {
  [Name in keyof Parts]: Parts[Name] extends 'time' ? bigint : string
}

/**
 * Reads the position from a cursor; `parts` names its parts, in order. Throws `invalid_cursor` for
 * a malformed cursor or one of another list.
 */
export function readPosition<const Parts extends Readonly<Record<string, PartType>>>(
  list: string,
  cursor: string,
  parts: Parts,
): Position<Parts> {
  const names = Object.keys(parts)
  const values = decodeCursor(list, cursor, names.length)
  const read = names.map((name, index) => {
    const value = valueAt(parts[name] ?? 'text', values[index])
    if (value !== undefined) return [name, value]
    throw problem('invalid_cursor', {
      detail: `cursor: got "${cursor.slice(0, 80)}", expected an unchanged next_cursor`,
    })
  })
  return Object.fromEntries(read)
}

function valueAt(type: PartType, value: unknown): bigint | string | undefined {
  if (typeof value !== 'string') return undefined
  if (type === 'time') return /^\d{1,19}$/.test(value) ? nanoseconds(value) : undefined
  return type === 'trace_id' ? traceIdFrom(value) : value
}

/** Reads nanoseconds within signed 64 bits, the range of ClickHouse's DateTime64(9). */
function nanoseconds(digits: string): bigint | undefined {
  const value = BigInt(digits)
  return value < 2n ** 63n ? value : undefined
}

import type { Observation } from '../../../model/observation.ts'
import type { TimelineRow } from '../contract.ts'
import type { ObservationColumn } from './observation-columns.ts'

/** Columns that are read under another name and form, so that no digit is lost on the way. */
type ReadOtherwise = 'start_time' | 'end_time' | 'cost_usd'
type Count = `${string}_tokens` | `${string}_bytes`

/** A row as JSONEachRow brings it: 64-bit integers are text. */
type Row<Columns extends ObservationColumn> = {
  [Column in Exclude<Columns, ReadOtherwise>]: Column extends Count
    ? string | null
    : Observation[Column]
} & { start_ns: string; end_ns: string; cost_text: string | null }

export type ObservationRow = Row<ObservationColumn>
export type TimelineJsonRow = Row<Exclude<ObservationColumn, 'input' | 'output'>>

/** The expression that reads a column, for a SELECT list; `observationFrom` undoes it. */
export function readExpression(column: ObservationColumn): string {
  if (column === 'start_time') return 'toUnixTimestamp64Nano(start_time) AS start_ns'
  if (column === 'end_time') return 'toUnixTimestamp64Nano(end_time) AS end_ns'
  if (column === 'cost_usd') return 'toString(cost_usd) AS cost_text'
  return column
}

export function observationFrom(row: ObservationRow): Observation {
  return { ...timelineRowFrom(row), input: row.input, output: row.output }
}

export function timelineRowFrom(row: TimelineJsonRow): TimelineRow {
  const { start_ns, end_ns, cost_text, ...rest } = row
  return {
    ...rest,
    start_time: BigInt(start_ns),
    end_time: BigInt(end_ns),
    cost_usd: cost_text,
    input_uncached_tokens: countOrNull(row.input_uncached_tokens),
    cache_read_tokens: countOrNull(row.cache_read_tokens),
    cache_write_tokens: countOrNull(row.cache_write_tokens),
    output_visible_tokens: countOrNull(row.output_visible_tokens),
    reasoning_tokens: countOrNull(row.reasoning_tokens),
    request_bytes: Number(row.request_bytes),
    response_bytes: Number(row.response_bytes),
  }
}

function countOrNull(digits: string | null): number | null {
  return digits === null ? null : Number(digits)
}

import type { Observation } from '../../../model/observation.ts'
import { compileRowBinary, type RowBinaryColumn } from '../../../platform/columnar/index.ts'
import type { TimelineRow } from '../contract.ts'
import { observationColumnTypes } from '../row-format/columns.ts'

/** Columns that are read under another name and type, so that no digits are lost. */
type ConvertedColumn = 'start_time' | 'end_time' | 'cost_usd'

type Count = `${string}_tokens` | `${string}_bytes`

/** A row in JSONEachRow: 64-bit integers are text. */
type Row<Columns extends ObservationColumn> = {
  [Column in Exclude<Columns, ConvertedColumn>]: Column extends Count
    ? string | null
    : Observation[Column]
} & { start_ns: string; end_ns: string; cost_text: string | null }

export type ObservationRow = Row<ObservationColumn>

export type TimelineJsonRow = Row<Exclude<ObservationColumn, 'input' | 'output'>>

/** Returns the SELECT expression of a column; `observationFrom` converts its value back. */
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

/** A column of table `observations`. */
type ObservationColumn = keyof typeof observationColumnTypes

export const observationColumns: readonly ObservationColumn[] = Object.keys(
  observationColumnTypes,
) as ObservationColumn[]

/** Encodes observations as RowBinary, in the order of `observationColumns`. */
export const encodeObservations = compileRowBinary(
  observationColumns.map(
    (name): RowBinaryColumn<Observation> => ({ name, type: observationColumnTypes[name] }),
  ),
)

/** Maximum days of one insert. Each day is a partition and makes a part, which takes 10 ms. */
const days_max = 50

const day_ns = 86_400_000_000_000n

/**
 * Splits a batch into inserts of at most 50 days. A batch may span hundreds of days (a late
 * history, or wrong clocks), and as one statement could time out at every attempt. Deterministic: a
 * repeated batch makes the same inserts.
 */
export function splitByDays(
  observations: readonly Observation[],
): readonly (readonly Observation[])[] {
  const days = Map.groupBy(observations, ({ start_time }) => start_time / day_ns)
  if (days.size <= days_max) return [observations]
  const inOrder = [...days.values()]
  const batches: Observation[][] = []
  for (let at = 0; at < inOrder.length; at += days_max) {
    batches.push(inOrder.slice(at, at + days_max).flat())
  }
  return batches
}

import type { Observation } from '../../../model/observation.ts'
import { observationColumnTypes, traceColumnTypes } from '../row-format/columns.ts'
import type { StoredTrace } from '../row-format/index.ts'

/** The tables of the hot window. */
export type HotTableName = 'hot_observations' | 'hot_traces'

/** What goes into each of the tables. */
export type HotRowOf = { hot_observations: Observation; hot_traces: StoredTrace }

/** An observation or trace, and when it was stored: milliseconds since 1970. */
export type HotRow<Table extends HotTableName> = { row: HotRowOf[Table]; ingested_at_ms: number }

/** How each table is keyed and read. */
export const hotTables = {
  hot_observations: {
    columns: [...Object.keys(observationColumnTypes), 'ingested_at'],
    key: ['project_id', 'start_time', 'trace_id', 'observation_id'],
    time: 'start_time',
  },
  hot_traces: {
    columns: [...Object.keys(traceColumnTypes), 'ingested_at'],
    key: ['project_id', 'time', 'trace_id'],
    time: 'time',
  },
} as const satisfies Record<HotTableName, { columns: string[]; key: string[]; time: string }>

/** When a row begins, in nanoseconds since 1970: what partitions are made by. */
export function timeOf(row: Observation | StoredTrace): bigint {
  return 'start_time' in row ? row.start_time : row.time
}

/**
 * A row as JSON with the names of its columns. PostgreSQL can hold no U+0000 in text: U+FFFD stands
 * for it, which `capabilities` tells.
 */
export function jsonOfRow({ row, ingested_at_ms }: HotRow<HotTableName>): string {
  const ingested_at = new Date(ingested_at_ms).toISOString()
  const json = JSON.stringify({ ...row, ingested_at }, digits)
  return unstorable.test(json) ? json.replaceAll(escapes, replaced) : json
}

/** Of two versions of a row the one that was stored later, as every read has it. */
export function isLater(one: HotRow<HotTableName>, other: HotRow<HotTableName>): boolean {
  if (one.ingested_at_ms !== other.ingested_at_ms) return one.ingested_at_ms > other.ingested_at_ms
  return one.row.message_id >= other.row.message_id
}

function digits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/** JSON escapes U+0000 and halves of a pair that stand alone, and nothing else of the two. */
const unstorable = /\\u(?:0000|d[89a-f])/
const escapes = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/gs

function replaced(found: string): string {
  return unstorable.test(found) ? '\ufffd' : found
}

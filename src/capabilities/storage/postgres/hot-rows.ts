import type { Observation } from '../../../model/observation.ts'
import { observationColumnTypes, traceColumnTypes } from '../row-format/columns.ts'
import type { StoredTrace } from '../row-format/index.ts'

/** The tables of the hot window. */
export type HotTableName = 'hot_observations' | 'hot_traces'

/** The rows of each table. */
type HotRowOf = { hot_observations: Observation; hot_traces: StoredTrace }

/** An observation or trace and its time of storage, in milliseconds since 1970. */
export type HotRow<Table extends HotTableName> = { row: HotRowOf[Table]; ingested_at_ms: number }

/** The columns, key and time column of each table. */
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

/** Returns the start of a row in nanoseconds since 1970, which selects its partition. */
export function timeOf(row: Observation | StoredTrace): bigint {
  return 'start_time' in row ? row.start_time : row.time
}

/**
 * Returns a row as JSON, keyed by column. Replaces U+0000, which PostgreSQL can't store in text,
 * with U+FFFD; see `nul_in_text` of `storeCapabilities`.
 */
export function jsonOfRow({ row, ingested_at_ms }: HotRow<HotTableName>): string {
  const ingested_at = new Date(ingested_at_ms).toISOString()
  const json = JSON.stringify({ ...row, ingested_at }, digits)
  return unstorable.test(json) ? json.replaceAll(escapes, replaceUnstorable) : json
}

/** Returns true if `one` is the later of two versions of a row. */
export function isLater(one: HotRow<HotTableName>, other: HotRow<HotTableName>): boolean {
  if (one.ingested_at_ms !== other.ingested_at_ms) return one.ingested_at_ms > other.ingested_at_ms
  return one.row.message_id >= other.row.message_id
}

function digits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/** Matches the JSON escapes of U+0000 and of lone surrogates. */
const unstorable = /\\u(?:0000|d[89a-f])/

const escapes = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/gs

function replaceUnstorable(match: string): string {
  return unstorable.test(match) ? '\ufffd' : match
}

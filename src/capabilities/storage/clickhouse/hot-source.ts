import type { Observation } from '../../../model/observation.ts'
import type { Columnar } from '../../../platform/columnar/index.ts'
import type { HotRow } from '../postgres/hot-rows.ts'
import { traceColumnTypes } from '../row-format/columns.ts'
import type { StoredTrace } from '../row-format/index.ts'
import {
  type ObservationRow,
  observationColumns,
  observationFrom,
  readExpression,
} from './observation-row.ts'
import { reader } from './store-failure.ts'

/** A project and a window of starts: nanoseconds since 1970, `from` inclusive, `to` exclusive. */
export type HotSlice = { project_id: string; from: bigint; to: bigint }

/** Reads the rows that fill a hot window: each record once, in its latest version. */
export type HotSource = {
  observations(slice: HotSlice): AsyncIterable<HotRow<'hot_observations'>[]>
  traces(slice: HotSlice): AsyncIterable<HotRow<'hot_traces'>[]>
}

/** Maximum rows of one read, since rows with large content are in memory at once. */
const rows_max = 500

/** Opens ClickHouse as the source of hot windows. Rejects with problem('store_unavailable'). */
export function openHotSource({ columnar }: { columnar: Columnar }): HotSource {
  const read = reader(columnar)
  return {
    observations: (slice) =>
      pages(async (after: Observation | undefined) => {
        const rows = await read<ObservationRow & Stored>(slice.project_id, observationsSql, {
          ...edges(slice),
          after_time: after?.start_time ?? before,
          after_trace: after?.trace_id ?? nilUuid,
          after_id: after?.observation_id ?? '',
        })
        return rows.map(({ ingested_ms, ...row }) => ({
          row: observationFrom(row as ObservationRow),
          ingested_at_ms: Number(ingested_ms),
        }))
      }),
    traces: (slice) =>
      pages(async (after: StoredTrace | undefined) => {
        const rows = await read<TraceRow & Stored>(slice.project_id, tracesSql, {
          ...edges(slice),
          after_time: after?.time ?? before,
          after_trace: after?.trace_id ?? nilUuid,
        })
        return rows.map(({ ingested_ms, time_ns, ...row }) => ({
          row: { ...row, time: BigInt(time_ns) },
          ingested_at_ms: Number(ingested_ms),
        }))
      }),
  }
}

type Stored = { ingested_ms: string }

type TraceRow = Omit<StoredTrace, 'time'> & { time_ns: string }

async function* pages<Row>(
  next: (after: Row | undefined) => Promise<{ row: Row; ingested_at_ms: number }[]>,
): AsyncGenerator<{ row: Row; ingested_at_ms: number }[]> {
  let after: Row | undefined
  for (;;) {
    const rows = await next(after)
    if (rows.length > 0) yield rows
    if (rows.length < rows_max) return
    after = rows.at(-1)?.row
  }
}

/** The earliest instant of a DateTime64(9). */
const before = -2_208_988_800_000_000_000n

const nilUuid = '00000000-0000-0000-0000-000000000000'

function edges({ from, to }: HotSlice) {
  return { from, to }
}

const instant = (name: string) => `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`

const observationsSql = `
SELECT ${observationColumns.map(readExpression).join(', ')},
  toUnixTimestamp64Milli(ingested_at) AS ingested_ms
FROM observations
WHERE project_id = {project:UUID}
  AND start_time >= ${instant('from')} AND start_time < ${instant('to')}
  AND (start_time, trace_id, observation_id)
    > (${instant('after_time')}, {after_trace:UUID}, {after_id:String})
ORDER BY start_time, trace_id, observation_id, ingested_at DESC, message_id DESC
LIMIT 1 BY start_time, trace_id, observation_id
LIMIT ${rows_max}`

const traceColumns = Object.keys(traceColumnTypes).map((name) =>
  name === 'time' ? 'toUnixTimestamp64Nano(time) AS time_ns' : name,
)

const tracesSql = `
SELECT ${traceColumns.join(', ')}, toUnixTimestamp64Milli(ingested_at) AS ingested_ms
FROM traces
WHERE project_id = {project:UUID} AND time >= ${instant('from')} AND time < ${instant('to')}
  AND (time, trace_id) > (${instant('after_time')}, {after_trace:UUID})
ORDER BY time, trace_id, ingested_at DESC, message_id DESC
LIMIT 1 BY time, trace_id
LIMIT ${rows_max}`

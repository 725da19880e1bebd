import type { Clock } from '../../../kernel/time.ts'
import type { Observation } from '../../../model/observation.ts'
import { type HotTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import type { ObservationStore, TaskPage, TimelineRow, TimeWindow } from '../contract.ts'
import { observationColumnTypes } from '../row-format/columns.ts'
import { openHotRowWriter } from './write-rows.ts'

/** What the hot window can do of the port: see `storeCapabilities`. */
export type HotObservationStore = Pick<
  ObservationStore,
  'insert' | 'observation' | 'traceObservations' | 'taskObservations'
>

/** Rows of one page or trace, at most. */
const rows_max = 10_000

/**
 * Observations in PostgreSQL. Each is there once: the primary key is its identity, and of two
 * versions the one that was stored later stays. It holds what was written to it, of any age.
 */
export function openPostgresStore({
  db,
  clock,
}: {
  db: Kysely<HotTables>
  clock: Clock
}): HotObservationStore {
  const writer = openHotRowWriter(db)
  return {
    insert: (observations) => {
      const ingested_at_ms = clock.now_ms()
      const rows = observations.map((row) => ({ row, ingested_at_ms }))
      return writer.write('hot_observations', rows)
    },
    observation: async (project_id, { trace_id, observation_id, ...window }) => {
      const { rows } = await sql<StoredRow>`
        select ${allColumns} from hot_observations
        where ${inWindow(project_id, window)} and trace_id = ${trace_id}
          and observation_id = ${observation_id}
        order by ingested_at desc, message_id desc
        limit 1
      `.execute(db)
      return rows[0] && observationFrom(rows[0])
    },
    traceObservations: async (project_id, { trace_id, limit, ...window }) => {
      const { rows } = await sql<StoredRow>`
        select ${allColumns} from hot_observations
        where ${inWindow(project_id, window)} and trace_id = ${trace_id}
        order by start_time, observation_id
        limit ${Math.min(limit, rows_max)}
      `.execute(db)
      return rows.map(observationFrom)
    },
    taskObservations: async (project_id, task_id, page) => {
      const { rows } = await sql<StoredRow>`
        select ${timelineColumns} from hot_observations
        where ${inWindow(project_id, page)} and task_id = ${task_id} and ${behind(page)}
        order by start_time, observation_id, trace_id
        limit ${Math.min(page.limit, rows_max)}
      `.execute(db)
      return rows.map((row): TimelineRow => observationFrom(row))
    },
  }
}

/** 64-bit integers come as text, so as not to lose digits. */
type StoredRow = Omit<Observation, 'start_time' | 'end_time'> & {
  start_time: string
  end_time: string
}

function inWindow(project_id: string, { from, to }: TimeWindow) {
  return sql`project_id = ${project_id}
    and start_time >= ${(from ?? least).toString()}::bigint
    and start_time < ${(to ?? most).toString()}::bigint`
}

function behind({ after }: TaskPage) {
  if (after === undefined) return sql`true`
  return sql`(start_time, observation_id)
    > (${after.start_time.toString()}::bigint, ${after.observation_id})`
}

const least = -(2n ** 63n)
const most = 2n ** 63n - 1n

const contentColumns: readonly string[] = ['input', 'output']
const columns = Object.keys(observationColumnTypes)
const readOtherwise: Readonly<Record<string, string>> = {
  start_time: 'start_time::text as start_time',
  end_time: 'end_time::text as end_time',
  // Without the zeros behind, as the other store shows it.
  cost_usd: 'trim_scale(cost_usd)::text as cost_usd',
}
const listOf = (names: readonly string[]) =>
  sql.raw(names.map((name) => readOtherwise[name] ?? name).join(', '))
const allColumns = listOf(columns)
const timelineColumns = listOf(columns.filter((name) => !contentColumns.includes(name)))

function observationFrom(row: StoredRow): Observation {
  return { ...row, start_time: BigInt(row.start_time), end_time: BigInt(row.end_time) }
}

import type { Clock } from '../../../kernel/time.ts'
import type { Observation } from '../../../model/observation.ts'
import { type HotTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import type { ObservationStore, TaskPage, TimelineRow, TimeWindow } from '../contract.ts'
import { observationColumnTypes } from '../row-format/columns.ts'
import type { ObservationIdentity, OwnerChange } from '../trace-contract.ts'
import { openHotRowWriter } from './write-rows.ts'

/** The part of the port that the hot window implements; see `storeCapabilities`. */
export type HotObservationStore = Pick<
  ObservationStore,
  'insert' | 'observation' | 'traceObservations' | 'taskObservations' | 'setOwners' | 'eraseRows'
>

/** Maximum rows of one page or trace. */
const rows_max = 10_000

/**
 * Opens the store of observations in PostgreSQL. The primary key is the identity, and the version
 * stored later replaces the earlier. The store keeps rows of any age until they are removed.
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
        where ${inWindow(project_id, page)} and task_id = ${task_id} and ${afterPosition(page)}
          and ${endsFrom(page)}
        order by start_time ${direction(page)}, observation_id ${direction(page)},
          trace_id ${direction(page)}
        limit ${Math.min(page.limit, rows_max)}
      `.execute(db)
      return rows.map((row): TimelineRow => observationFrom(row))
    },
    eraseRows: async (project_id, { rows, users }) => {
      const list = (of: (row: ObservationIdentity) => unknown) => rows.map((row) => String(of(row)))
      const traces = list(({ trace_id }) => trace_id)
      await sql`delete from hot_observations as stored using unnest(
          ${traces}::uuid[], ${list((row) => row.observation_id)}::text[],
          ${list((row) => row.start_time)}::bigint[]) as given (trace_id, observation_id, start_time)
        where stored.project_id = ${project_id} and stored.trace_id = given.trace_id
          and stored.observation_id = given.observation_id
          and stored.start_time = given.start_time`.execute(db)
      await sql`delete from hot_traces where project_id = ${project_id}
        and trace_id = any(${traces}::uuid[]) and user_id = any(${[...users]}::text[])`.execute(db)
    },
    setOwners: async (project_id, changes) => {
      for (let at = 0; at < changes.length; at += changes_max) {
        await changeOwners(db, project_id, changes.slice(at, at + changes_max))
      }
    },
  }
}

/** Maximum rows of one statement. */
const changes_max = 2_000

async function changeOwners(
  db: Kysely<HotTables>,
  project_id: string,
  changes: readonly OwnerChange[],
): Promise<void> {
  // The range lets PostgreSQL skip the partitions of other days.
  const starts = changes.map(({ start_time }) => start_time).sort((a, b) => (a < b ? -1 : 1))
  const lists = ownerFields.map((field) => changes.map((change) => String(change[field])))
  const columns = sql.join(lists.map((list) => sql`${list}::text[]`))
  await sql`
    update hot_observations as stored set
      task_id = given.task_id, task_name = given.task_name,
      task_implicit = given.task_implicit::boolean, conversation_id = given.conversation_id,
      conversation_external_id = given.conversation_external_id,
      user_id = given.user_id, release = given.release, counted_with = given.counted_with
    from unnest(${columns}) as given (${sql.raw(ownerFields.join(', '))})
    where stored.project_id = ${project_id} and stored.start_time = given.start_time::bigint
      and stored.start_time between ${String(starts[0])}::bigint and ${String(starts.at(-1))}::bigint
      and stored.trace_id = given.trace_id::uuid and stored.observation_id = given.observation_id
  `.execute(db)
}

const ownerFields = [
  'start_time',
  'trace_id',
  'observation_id',
  'task_id',
  'task_name',
  'task_implicit',
  'conversation_id',
  'conversation_external_id',
  'user_id',
  'release',
  'counted_with',
] as const satisfies readonly (keyof OwnerChange)[]

/** A row as read: 64-bit integers come as text, so that no digits are lost. */
type StoredRow = Omit<Observation, 'start_time' | 'end_time'> & {
  start_time: string
  end_time: string
}

function inWindow(project_id: string, { from, to }: TimeWindow) {
  return sql`project_id = ${project_id}
    and start_time >= ${(from ?? earliest).toString()}::bigint
    and start_time < ${(to ?? latest).toString()}::bigint`
}

function afterPosition({ after }: TaskPage) {
  if (after === undefined) return sql`true`
  return sql`(start_time, observation_id)
    > (${after.start_time.toString()}::bigint, ${after.observation_id})`
}

function endsFrom({ ends_from }: TaskPage) {
  return ends_from === undefined ? sql`true` : sql`end_time >= ${ends_from.toString()}::bigint`
}

function direction({ order = 'asc' }: TaskPage) {
  return order === 'asc' ? sql`asc` : sql`desc`
}

const earliest = -(2n ** 63n)

const latest = 2n ** 63n - 1n

const contentColumns: readonly string[] = ['input', 'output']

const columns = Object.keys(observationColumnTypes)

const readExpressions: Readonly<Record<string, string>> = {
  start_time: 'start_time::text as start_time',
  end_time: 'end_time::text as end_time',
  // Without trailing zeros, like ClickHouse.
  cost_usd: 'trim_scale(cost_usd)::text as cost_usd',
  cost_computed_usd: 'trim_scale(cost_computed_usd)::text as cost_computed_usd',
  cost_reported_usd: 'trim_scale(cost_reported_usd)::text as cost_reported_usd',
}

const selectList = (names: readonly string[]) =>
  sql.raw(names.map((name) => readExpressions[name] ?? name).join(', '))

const allColumns = selectList(columns)

const timelineColumns = selectList(columns.filter((name) => !contentColumns.includes(name)))

function observationFrom(row: StoredRow): Observation {
  return { ...row, start_time: BigInt(row.start_time), end_time: BigInt(row.end_time) }
}

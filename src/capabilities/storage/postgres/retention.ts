import { contentAttributes } from '../../../model/content-attributes.ts'
import { type HotTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import type { RecordKind } from '../record-contract.ts'
import {
  type RetentionSlice,
  type RetentionTarget,
  retentionIds_max,
  type UserErasure,
} from '../retention-contract.ts'
import { type HotTableName, hotTables } from './hot-rows.ts'
import { lockProject } from './partitions.ts'

type Db = Kysely<HotTables>

type Sql = ReturnType<typeof sql>

/** Maximum rows of one statement, for it to end within the statement timeout. */
const rows_max = 5_000

/**
 * Removes data from the hot window. Waits for running copies of a backfill (`lockProject`), so that
 * rows removed from ClickHouse before the call can't return here.
 */
export function openPostgresRetention({ db }: { db: Db }): RetentionTarget {
  return {
    store: 'postgres',
    kinds: ['observations', 'traces'],
    deleteRows: (slice, signal) => {
      const statement = (table: HotTableName) => deleteWhere(table, sliceCondition(table, slice))
      return repeatFor(db, slice, { statement, signal })
    },
    maskContent: (slice, signal) => {
      const statement = (table: HotTableName) => maskWhere(table, sliceCondition(table, slice))
      return repeatFor(db, slice, { statement, signal })
    },
    tracesOfUser: (about) => tracesOfUser(db, about),
    eraseUser: (about, signal) => eraseUser(db, about, signal),
  }
}

const tablesByKind: Partial<Record<RecordKind, HotTableName>> = {
  observations: 'hot_observations',
  traces: 'hot_traces',
}

async function repeatFor(
  db: Db,
  { kind, project_id }: RetentionSlice,
  about: { statement: (table: HotTableName) => Sql; signal: AbortSignal | undefined },
): Promise<void> {
  const table = tablesByKind[kind]
  if (table === undefined) return
  await repeatUntilDone(db, project_id, { statement: about.statement(table), signal: about.signal })
}

/** Repeats a statement of bounded rows until it affects no rows. */
async function repeatUntilDone(
  db: Db,
  project_id: string,
  { statement, signal }: { statement: Sql; signal: AbortSignal | undefined },
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const touched = await db.transaction().execute(async (trx) => {
      await lockProject(trx, project_id, 'exclusive')
      return (await statement.execute(trx)).numAffectedRows ?? 0n
    })
    if (touched === 0n) return
  }
}

function sliceCondition(table: HotTableName, slice: RetentionSlice): Sql {
  const { environments, trace_ids, held_trace_ids, stored_before_ms, with_content } = slice
  const time = sql.id(hotTables[table].time)
  const parts = [
    sql`project_id = ${slice.project_id}`,
    sql`${time} >= ${slice.from.toString()}::bigint and ${time} < ${slice.to.toString()}::bigint`,
    ...(environments ? [sql`environment = any(${environments}::text[])`] : []),
    ...(trace_ids ? [sql`trace_id = any(${trace_ids}::uuid[])`] : []),
    ...(held_trace_ids.length > 0 ? [sql`trace_id <> all(${held_trace_ids}::uuid[])`] : []),
    ...(stored_before_ms === undefined
      ? []
      : [sql`ingested_at < ${new Date(stored_before_ms).toISOString()}::timestamptz`]),
    ...(with_content ? [hasContent[table]] : []),
  ]
  return sql`(${sql.join(parts, sql` and `)})`
}

const hasContent: Readonly<Record<HotTableName, Sql>> = {
  hot_observations: sql`content_state in ('full', 'truncated')`,
  hot_traces: sql`(input <> '' or output <> '')`,
}

function someRows(table: HotTableName, where: Sql): Sql {
  const key = sql.raw(hotTables[table].key.join(', '))
  return sql`(${key}) in (select ${key} from ${sql.id(table)} where ${where} limit ${rows_max})`
}

function deleteWhere(table: HotTableName, where: Sql): Sql {
  return sql`delete from ${sql.id(table)} where ${someRows(table, where)}`
}

function maskWhere(table: HotTableName, where: Sql): Sql {
  const unmasked = sql`${where} and ${hasContent[table]}`
  return sql`update ${sql.id(table)} set ${withoutContent[table]} where ${someRows(table, unmasked)}`
}

const { keys, request_parameters } = contentAttributes()

/** Tests an attribute's key for content, like `isContentAttribute` of the model. */
const isContent = sql`case when starts_with(key, 'request.')
  then substr(key, ${'request.'.length + 1}::int) <> all(${request_parameters}::text[])
  else key ~ ${keys} end`

/** Removes content and keeps measurements, as in ClickHouse. */
const withoutContent: Readonly<Record<HotTableName, Sql>> = {
  hot_observations: sql`input = '', output = '', error_message = '', content_state = 'expired',
    tool_calls = (
      select coalesce(jsonb_agg(item || '{"arguments": ""}' order by at), '[]')
      from jsonb_array_elements(tool_calls) with ordinality as each (item, at)
    ),
    tool_results = (
      select coalesce(jsonb_agg(item || '{"content": ""}' order by at), '[]')
      from jsonb_array_elements(tool_results) with ordinality as each (item, at)
    ),
    attributes = (
      select coalesce(jsonb_object_agg(key, value), '{}')
      from jsonb_each(attributes) where not (${isContent})
    )`,
  hot_traces: sql`input = '', output = ''`,
}

async function eraseUser(
  db: Db,
  { project_id, user_id, trace_ids }: UserErasure,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (trace_ids.length === 0) return
  const where = sql`project_id = ${project_id} and trace_id = any(${trace_ids}::uuid[])
    and user_id in (${user_id}, '')`
  for (const table of Object.keys(hotTables) as HotTableName[]) {
    await repeatUntilDone(db, project_id, { statement: deleteWhere(table, where), signal })
  }
}

async function tracesOfUser(
  db: Db,
  about: { project_id: string; user_id: string; after: string },
): Promise<string[]> {
  const named = sql`project_id = ${about.project_id} and user_id = ${about.user_id}`
  const { rows } = await sql<{ id: string }>`
    select trace_id::text as id from (
      select trace_id from hot_observations where ${named}
      union select trace_id from hot_traces where ${named}
    ) as named
    where trace_id::text > ${about.after} order by id limit ${retentionIds_max}`.execute(db)
  return rows.map(({ id }) => id)
}

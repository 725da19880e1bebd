import { type HotTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import {
  type HotRow,
  type HotTableName,
  hotTables,
  isLater,
  jsonOfRow,
  timeOf,
} from './hot-rows.ts'
import { dayOf, makePartition } from './retention.ts'

type Db = Kysely<HotTables>

/** Approximate maximum rows and bytes of one statement. */
const rows_max = 500

const bytes_max = 4 * 1024 * 1024

/** Writes rows to the tables of the hot window. */
export type HotRowWriter = {
  /**
   * Writes rows of any projects and creates the partitions of their days. Resolves when the rows
   * are durable. Replaces rows that were stored earlier. After a rejection any part may be written,
   * and it is safe to repeat the call.
   */
  write<Table extends HotTableName>(table: Table, rows: readonly HotRow<Table>[]): Promise<void>
  /** Creates the partitions of these days. */
  prepare(days: readonly number[]): Promise<void>
}

/** Opens a writer, which caches the partitions that it has seen. */
export function openHotRowWriter(db: Db): HotRowWriter {
  const known = new Set<string>()
  const ensure = async (table: HotTableName, days: Iterable<number>) => {
    for (const day of days) {
      const key = `${table} ${day}`
      if (known.has(key)) continue
      await makePartition(db, { table, day })
      known.add(key)
    }
  }
  return {
    write: async (table, rows) => {
      const latest = latestOfEach(table, rows)
      const days = new Set(latest.map(({ row }) => dayOf(timeOf(row))))
      await ensure(table, days)
      for (const statement of splitStatements(latest)) {
        await upsert(db, table, statement).catch(async (error: unknown) => {
          if (!isMissingPartition(error)) throw error
          // The partition was dropped meanwhile.
          known.clear()
          await ensure(table, days)
          await upsert(db, table, statement)
        })
      }
    },
    prepare: async (days) => {
      for (const table of Object.keys(hotTables) as HotTableName[]) await ensure(table, days)
    },
  }
}

/**
 * Returns the latest version of each row, since a statement can't update a row twice. Sorts rows by
 * key, so that concurrent writers do not deadlock.
 */
function latestOfEach<Table extends HotTableName>(
  table: Table,
  rows: readonly HotRow<Table>[],
): HotRow<Table>[] {
  const byKey = new Map<string, HotRow<Table>>()
  for (const row of rows) {
    const values = row.row as unknown as Record<string, unknown>
    const key = hotTables[table].key.map((name) => String(values[name])).join(' ')
    const other = byKey.get(key)
    if (other === undefined || isLater(row, other)) byKey.set(key, row)
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

function* splitStatements(rows: readonly HotRow<HotTableName>[]): Generator<string> {
  let texts: string[] = []
  let size = 0
  for (const row of rows) {
    const text = jsonOfRow(row)
    texts.push(text)
    size += text.length
    if (texts.length < rows_max && size < bytes_max) continue
    yield `[${texts.join(',')}]`
    texts = []
    size = 0
  }
  if (texts.length > 0) yield `[${texts.join(',')}]`
}

async function upsert(db: Db, table: HotTableName, json: string): Promise<void> {
  const { columns, key } = hotTables[table]
  const names = columns.join(', ')
  const others = columns.filter((name) => !(key as readonly string[]).includes(name))
  const assignments = others.map((name) => `${name} = excluded.${name}`).join(', ')
  await sql`
    insert into ${sql.id(table)} (${sql.raw(names)})
    select ${sql.raw(names)} from json_populate_recordset(null::${sql.id(table)}, ${json}::json)
    on conflict (${sql.raw(key.join(', '))}) do update set ${sql.raw(assignments)}
    where (${sql.id(table)}.ingested_at, ${sql.id(table)}.message_id)
      <= (excluded.ingested_at, excluded.message_id)
  `.execute(db)
}

/** Detects `no partition of relation … found for row`: a check_violation without a constraint. */
function isMissingPartition(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === '23514' &&
    !('constraint' in error && error.constraint)
  )
}

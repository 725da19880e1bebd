import { type HotTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import {
  type HotRow,
  type HotTableName,
  hotTables,
  isLater,
  jsonOfRow,
  timeOf,
} from './hot-rows.ts'
import { dayOf, makePartition } from './partitions.ts'

type Db = Kysely<HotTables>

/** Rows and bytes of one statement, about. */
const rows_max = 500
const bytes_max = 4 * 1024 * 1024

/** Puts rows into the tables of the hot window. */
export type HotRowWriter = {
  /**
   * Writes rows of any projects; resolves once they are durable. A row that is there already is
   * replaced when it was stored earlier. When it rejects, any part may be written, and repeating it
   * is right. Makes the partitions of the rows' days.
   */
  write<Table extends HotTableName>(table: Table, rows: readonly HotRow<Table>[]): Promise<void>
  /** Makes the partitions of these days. */
  prepare(days: readonly number[]): Promise<void>
}

/** Opens a writer, which remembers what partitions it has seen. */
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
      const once = latestOfEach(table, rows)
      const days = new Set(once.map(({ row }) => dayOf(timeOf(row))))
      await ensure(table, days)
      for (const statement of statementsOf(once)) {
        await upsert(db, table, statement).catch(async (error: unknown) => {
          if (!isMissingPartition(error)) throw error
          // It was dropped since.
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
 * A statement can't touch a row twice; and rows in one order for all, so that two writers that
 * meet wait for each other in turn.
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

function* statementsOf(rows: readonly HotRow<HotTableName>[]): Generator<string> {
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

/** `no partition of relation … found for row` is a check_violation without a constraint's name. */
function isMissingPartition(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === '23514' &&
    !('constraint' in error && error.constraint)
  )
}

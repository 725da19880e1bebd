import { type IncidentTables, sql } from '../../../platform/relational/index.ts'
import type { IncidentDb } from '../ports.ts'

/** Records of a table, by name of the column; columns that are missing are null. */
type Records = readonly object[]

/** Handling of a record whose key is stored. */
type OnConflict = {
  /** Columns of the key; any unique index if left out. */
  key?: readonly string[]
  /** Columns that take the new value; none keeps the stored record. */
  update?: readonly string[]
}

/**
 * Inserts records with one statement, in their order. The first record names the columns. All
 * values are a single parameter, so that thousands of records are possible.
 */
export async function putRecords(
  trx: IncidentDb,
  table: keyof IncidentTables,
  records: Records,
  { key = [], update = [] }: OnConflict = {},
): Promise<void> {
  const [first] = records
  if (first === undefined) return
  const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)))
  const arbiter = key.length === 0 ? sql`` : sql`(${sql.join(key.map((one) => sql.ref(one)))})`
  const changed = update.map((one) => sql`${sql.ref(one)} = excluded.${sql.ref(one)}`)
  const action = update.length === 0 ? sql`nothing` : sql`update set ${sql.join(changed)}`
  await sql`
    insert into ${sql.table(table)} (${columns})
    select ${columns}
    from jsonb_populate_recordset(null::${sql.table(table)}, ${jsonOf(records)}::jsonb)
    on conflict ${arbiter} do ${action}
  `.execute(trx)
}

/**
 * Returns values as JSON that PostgreSQL can store: texts come from payloads, and a jsonb has
 * neither U+0000 nor half of a surrogate pair.
 */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'string' ? storableText(one) : one,
  )
}

/** Replaces characters that PostgreSQL cannot store. */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed()
}

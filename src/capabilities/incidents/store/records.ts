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

/** Size of the records of a statement: jsonb holds 256 MB, and a worker has other work as well. */
const batch_characters_max = 4_000_000

/**
 * Inserts records in their order, usually with one statement. The first record names the columns.
 * All values are a single parameter, so that thousands of records are possible.
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
  for (const batch of jsonBatches(records, batch_characters_max)) {
    await sql`
      insert into ${sql.table(table)} (${columns})
      select ${columns}
      from jsonb_populate_recordset(null::${sql.table(table)}, ${batch}::jsonb)
      on conflict ${arbiter} do ${action}
    `.execute(trx)
  }
}

/**
 * Returns JSON lists of records in their order, each of at most this size, or of one record. A list is
 * made when it is asked for, so that only one is in memory: the messages of an incident to many
 * channels are copies of the incident.
 */
export function* jsonBatches(records: Records, characters_max: number): Generator<string> {
  let batch: string[] = []
  let size = 2
  for (const record of records) {
    const json = jsonOf(record)
    if (batch.length > 0 && size + json.length + 1 > characters_max) {
      yield `[${batch.join(',')}]`
      batch = []
      size = 2
    }
    batch.push(json)
    size += json.length + 1
  }
  if (batch.length > 0) yield `[${batch.join(',')}]`
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

/** The stores that a query can be compiled for. */
export type StoreName = 'clickhouse' | 'postgres'

/**
 * How values of a field compare and how they are written in JSON. `uuid`: a trace id, in either
 * spelling. `decimal`: text of a number. `time`: ISO 8601. `list`: texts. `json`: shown only.
 */
export type FieldType =
  | 'text'
  | 'uuid'
  | 'integer'
  | 'decimal'
  | 'float'
  | 'time'
  | 'bool'
  | 'list'
  | 'json'

/**
 * A field of an entity. Unknown text is the empty text, in every store; other values are never
 * unknown unless `nullable` says so. A column of the name holds it, or `derived` tells it by SQL.
 */
export type Field = {
  name: string
  type: FieldType
  about: string
  nullable?: true
  /** Text that every record has: ingestion refuses a record without it. */
  required?: true
  /** It may be large: read for the rows of a page only, where the store can do so. */
  content?: true
  /** Its column has an index that finds few rows among many. */
  indexed?: true
  derived?: Partial<Record<StoreName, string>>
  /** Fields whose sum it is, as far as they are known: then a sum of it is made of theirs. */
  sum_of?: readonly string[]
  /** On an entity that is computed: how it is told from the rows `o` of a group, in each store. */
  grouped?: { sql: Readonly<Partial<Record<StoreName, string>>>; reads: readonly string[] }
  /** On an entity that is computed: the record beside it has it too, and its word counts. */
  recorded?: true
}

/** Where an entity lies in a store. */
export type Source = {
  table: string
  /** Versions of a record that was sent again may lie side by side; the latest one counts. */
  versioned: boolean
  /** Times are whole numbers: nanoseconds since 1970. */
  times_in_ns?: true
  /** On an entity that is computed: where records are that tell of it as a whole. */
  record_table?: string
  /** Where rows lie that were restored from archives, with the columns of `table` and a slice. */
  restored?: string
  /** The same of `record_table`. */
  restored_records?: string
}

/** Something that can be asked for. */
export type Entity = {
  name: string
  about: string
  /** The field that a query's window is about. */
  time: string
  /** Fields that tell records of a project apart and never change; the order of a table. */
  identity: readonly string[]
  /** True when a record that is sent again may bring another time. */
  time_moves?: true
  /** Fields of any key: `attributes.<key>`. */
  maps: readonly string[]
  /** The field that `error_rate` counts. */
  error_field?: string
  fields: Readonly<Record<string, Field>>
  stores: Partial<Record<StoreName, Source>>
  /** One record for each group of another entity's records, joined with a record of its own. */
  computed?: { of: string; by: string }
}

/** Makes the fields of an entity of their list. */
export function fieldsOf(fields: readonly Field[]): Readonly<Record<string, Field>> {
  return Object.fromEntries(fields.map((field) => [field.name, field]))
}

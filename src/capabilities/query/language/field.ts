import { type Faults, nearNames, unexpected } from './faults.ts'
import { queryLimits } from './limits.ts'

/** The stores that a query can be compiled for. */
export type StoreName = 'clickhouse' | 'postgres'

/**
 * The type of a field: how its values compare and how JSON writes them. `uuid`: a trace id, with or
 * without hyphens. `decimal`: a number as text. `time`: ISO 8601. `list`: texts. `json`: can be
 * selected, but not compared.
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
 * A field of an entity: the column of its name, or the SQL expression in `derived`. Both stores
 * hold unknown text as the empty text. Values of other types are always known, unless `nullable`.
 */
export type Field = {
  name: string
  type: FieldType
  description: string
  nullable?: true
  /** Text that every record has: ingestion refuses a record without it. */
  required?: true
  /** A large value, read for the rows of the page alone where the store can do so. */
  content?: true
  /** Computed from a large column, so that a query without `select` leaves it out. */
  from_content?: true
  /** The column has an index that finds few rows among many. */
  indexed?: true
  derived?: Partial<Record<StoreName, string>>
  /** The fields that it sums up. Its aggregate sum is the sum of their sums. */
  sum_of?: readonly string[]
  /** On a computed entity: the aggregate expression over the rows `o` of a group. */
  grouped?: { sql: Readonly<Partial<Record<StoreName, string>>>; reads: readonly string[] }
  /** On a computed entity: the entity's own record holds it too and takes precedence. */
  recorded?: true
}

/** The tables of an entity in one store. */
export type Source = {
  table: string
  /** The table may hold several versions of a record that was sent again; the latest counts. */
  versioned: boolean
  /** Times are stored as integers, in nanoseconds since 1970. */
  times_in_ns?: true
  /** On a computed entity: the table of the entity's own records. */
  record_table?: string
  /** The table of rows restored from archives: the columns of `table`, and `slice_id`. */
  restored?: string
  /** Like `restored`, for `record_table`. */
  restored_records?: string
}

/** A kind of record that queries select from. */
export type Entity = {
  name: string
  description: string
  /** The field that the query's window bounds. */
  time: string
  /** Fields that identify a record in its project and never change; also the table's order. */
  identity: readonly string[]
  /** A record that is sent again may carry another time. */
  time_moves?: true
  /** Maps whose keys can be queried: `attributes.<key>`. */
  maps: readonly string[]
  /** The field that `error_rate` counts. */
  error_field?: string
  fields: Readonly<Record<string, Field>>
  stores: Partial<Record<StoreName, Source>>
  /** Computed: one record for each group of another entity's records, joined with its own. */
  computed?: { of: string; by: string }
}

/** Indexes the fields of an entity by name. */
export function fieldsOf(fields: readonly Field[]): Readonly<Record<string, Field>> {
  return Object.fromEntries(fields.map((field) => [field.name, field]))
}

/** A field as a query names it: a field of the entity, or a key of one of its maps. */
export type Reference = { name: string; field: Field; map_key?: string }

/** Finds the field that a query names. Adds a fault with the valid names for any other name. */
export function findField(
  entity: Entity,
  name: string,
  path: readonly (string | number)[],
  faults: Faults,
): Reference | undefined {
  const field = Object.hasOwn(entity.fields, name) ? entity.fields[name] : undefined
  if (field) return { name, field }
  const dot = name.indexOf('.')
  const map = dot > 0 ? name.slice(0, dot) : ''
  if (!entity.maps.includes(map)) return faults.add(path, unknownField(entity, name))
  const map_key = name.slice(dot + 1)
  const length_max = queryLimits.map_key_characters_max
  if (map_key === '' || map_key.length > length_max || map_key.includes('\u0000')) {
    return faults.add(path, unexpected(name, `a key of 1 to ${length_max} characters, no U+0000`))
  }
  return { name, map_key, field: { name: map, type: 'text', description: '', content: true } }
}

/** Returns a field by a name that the catalogue holds. Throws RangeError for any other name. */
export function referenceTo({ name: entity, fields }: Entity, name: string): Reference {
  const field = fields[name]
  if (field === undefined) throw new RangeError(`${entity} have no ${name}`)
  return { name, field }
}

function unknownField(entity: Entity, name: string): string {
  const names = Object.keys(entity.fields)
  const near = nearNames(name, names)
  const meant = near.length > 0 ? `${near.join(' or ')}? One of ` : ''
  const maps = entity.maps.map((map) => `${map}.<key>`)
  const all = [...names, ...maps].join(', ')
  return unexpected(name, `a field of ${entity.name}: ${meant}${all}`)
}

import type { FieldType } from '../language/field.ts'
import type { Scalar } from '../language/values.ts'

/** A parameter's value; arrays are for `in`. */
export type Param = Scalar | readonly Scalar[]

/**
 * How a column's values read in the answer of a store, and become JSON: times come as nanoseconds
 * in text, decimals as text, whole numbers as text or number.
 */
export type Column = { alias: string; name: string; type: FieldType }

/**
 * A statement to run. `params` are named p0, p1 and so on for ClickHouse, and are $1, $2 in this
 * order for PostgreSQL. `keys` are columns that tell where the next page begins.
 */
export type Statement = {
  text: string
  params: readonly Param[]
  columns: readonly Column[]
  keys: readonly KeyColumn[]
  /** Rows are read in the order of the table, until there are enough. */
  stops_early?: boolean
  /** What one part of it finds decides what another part reads. */
  narrowed?: boolean
}

/** What a position in the order is made of; `null_flag`: 1 when the value after it is unknown. */
export type KeyKind = FieldType | 'null_flag'
export type KeyColumn = { alias: string; kind: KeyKind }

/** Collects the parameters of one statement and says how its text names them. */
export type Params = {
  /** Takes a value; answers its placeholder, with its type. */
  add: (value: Param, type: string) => string
  readonly values: readonly Param[]
}

/** Collects parameters; the same value of the same type is one. */
export function collectParams(placeholder: (at: number, type: string) => string): Params {
  const values: Param[] = []
  const known = new Map<string, string>()
  return {
    values,
    add: (value, type) => {
      const key =
        typeof value === 'object' ? `${values.length}` : `${type} ${typeof value} ${value}`
      const given = known.get(key) ?? placeholder(values.length, type)
      if (!known.has(key)) values.push(value)
      known.set(key, given)
      return given
    },
  }
}

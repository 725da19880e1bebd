import type { FieldType } from '../language/field.ts'
import type { Scalar } from '../language/values.ts'

/** The value of a parameter; an array for `in`. */
export type Param = Scalar | readonly Scalar[]

/**
 * A column of a store's answer. Times come as nanoseconds in text, decimals as text, integers as
 * text or number.
 */
export type Column = { alias: string; name: string; type: FieldType }

/**
 * A statement to run. `params` are p0, p1, … for ClickHouse and $1, $2, … for PostgreSQL, in
 * this order. `keys` are the columns that the next page's cursor is made of.
 */
export type Statement = {
  text: string
  params: readonly Param[]
  columns: readonly Column[]
  keys: readonly KeyColumn[]
  /** Rows are read in the table's order, until the page is full. */
  stops_early?: boolean
  /** The result of one part decides which rows another part reads. */
  narrowed?: boolean
}

/** The type of a sort key. `null_flag`: 1 if the key after it is unknown, else 0. */
export type KeyKind = FieldType | 'null_flag'

export type KeyColumn = { alias: string; kind: KeyKind }

/** The parameters of one statement, and their placeholders in its text. */
export type Params = {
  /** Adds a value; returns its placeholder, with its type. */
  add: (value: Param, type: string) => string
  readonly values: readonly Param[]
}

/** Opens an empty list of parameters. Equal values of one type share a parameter. */
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

/** Returns a statement's parameters by their names in ClickHouse. */
export function namedParams({ params }: Pick<Statement, 'params'>): Record<string, ArrayOf<Param>> {
  return Object.fromEntries(params.map((value, at) => [`p${at}`, value as ArrayOf<Param>]))
}

/** All values of a list have one type. */
type ArrayOf<P> = P extends readonly (infer _Each)[]
  ? readonly string[] | readonly number[] | readonly bigint[]
  : P

import { shownDollars } from '../../../kernel/dollars.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import type { FieldType } from '../language/field.ts'
import type { Column, Param, Statement } from './statement.ts'

/** A value in JSON; unknown ones are null, unknown text too. */
export type Shown = string | number | boolean | null | object

/** A row of a store as the answer shows it, by the names that the query gave. */
export function rowOf(
  row: Readonly<Record<string, unknown>>,
  columns: readonly Column[],
): Record<string, Shown> {
  return Object.fromEntries(
    columns.map(({ alias, name, type }) => [name, shownValue(row[alias], type)]),
  )
}

/** The parameters of a statement by the names that ClickHouse knows them by. */
export function namedParams({ params }: Pick<Statement, 'params'>): Record<string, ArrayOf<Param>> {
  return Object.fromEntries(params.map((value, at) => [`p${at}`, value as ArrayOf<Param>]))
}

/** Values of a list are of one type. */
type ArrayOf<P> = P extends readonly (infer _Each)[]
  ? readonly string[] | readonly number[] | readonly bigint[]
  : P

function shownValue(value: unknown, type: FieldType): Shown {
  if (value === null || value === undefined || value === '') return null
  switch (type) {
    case 'integer':
    case 'float':
      return Number(value)
    case 'decimal':
      return shownDollars(String(value))
    case 'time':
      return isoFromNs(BigInt(String(value)))
    // ClickHouse tells what it computed as a number.
    case 'bool':
      return value === true || Number(value) === 1
    default:
      return value as Shown
  }
}

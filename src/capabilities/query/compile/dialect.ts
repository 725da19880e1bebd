import type { QueryWindow } from '../language/check-query.ts'
import type { FieldType, Source, StoreName } from '../language/field.ts'
import type { Operator } from '../language/operators.ts'
import type { MeasureFunction } from '../language/query-body.ts'
import type { Scalar } from '../language/values.ts'
import type { KeyKind, Params } from './statement.ts'

/** An expression of a statement and what it yields. `required`: text that is never unknown. */
export type Expression = { sql: string; type: FieldType; nullable?: boolean; required?: boolean }

/** What one store writes otherwise than another. Everything in the text is ours, nothing given. */
export type Dialect = {
  store: StoreName
  /** This dialect, for what lies in that table. */
  of: (source: Source) => Dialect
  /** The smallest time step of the store's times. */
  tick_ns: bigint
  /** Parameters of one statement. */
  params: () => Params
  /** What the statement calls the parameter at that place, from 0 on. */
  param_name: (at: number) => string
  /** The placeholder of a project's id. */
  project: (params: Params, project_id: string) => string
  /** The placeholder of a value of a type, to be compared with an expression of it. */
  value: (params: Params, type: FieldType, value: Scalar) => string
  /** A whole number, for LIMIT and arithmetic. */
  integer: (params: Params, value: number | bigint) => string
  /** True where the expression is one of the values. */
  among: (params: Params, expression: Expression, values: readonly Scalar[]) => string
  /** Conditions on text; on lists `contains` means an element. */
  textTest: (op: TextOperator, expression: Expression, placeholder: string) => string
  /** True when the list, or the JSON array, has an element. */
  hasElements: (expression: Expression) => string
  /** IN for a subquery that may lie on other servers than the rows. */
  in_subquery: 'GLOBAL IN' | 'IN'
  /** Put behind text, so that it is ordered by its bytes. */
  text_order: string
  /** Conditions on a time that leave out months in which no instant of the window is. */
  months: (params: Params, time: string, window: QueryWindow) => string[]
  /** A subquery with the row of each key that was stored last. */
  latestRows: (rows: LatestRows) => string
  /** A whole map; empty when there is no row to have one. */
  wholeMap: (map: string) => string
  /** What is known of the first text, else the second. */
  firstKnown: (first: string, second: string) => string
  /** The text of a map's key; empty when the key is missing. */
  mapText: (map: string, key: string) => string
  /** Text as a number; null when it is none. */
  numberFrom: (sql: string) => string
  /** How an expression is shown; see `Column`. */
  shown: (expression: Expression) => string
  /** Expressions to sort records by instead, never null: what is unknown comes last. */
  sortKeys: (expression: Expression, how: SortedHow) => readonly SortExpression[]
  /** A sort key of groups, with its direction: what is unknown comes last. */
  groupOrder: (expression: Expression, direction: Direction) => string
  /** The placeholder of a position's part. */
  position: (params: Params, kind: KeyKind, value: string) => string
  /** A measure of a group; see `measureFunctions`. */
  measure: (fn: PlainMeasure, expression: Expression) => string
  /** The share of the group's records for which it holds, 0 to 1. */
  share: (condition: string) => string
  /** Nanoseconds since 1970. */
  nanoseconds: (time: string) => string
  /** The largest multiple of the width, from the offset on, that is not above the number. */
  floor: (number: string, by: { width: string; offset: string }) => string
  /** A quotient with fraction. */
  quotient: (dividend: string, divisor: string) => string
}

/** Rounds an instant up to a time step of the store. */
export function nextTick(instant: bigint, { tick_ns }: Pick<Dialect, 'tick_ns'>): bigint {
  const past = instant % tick_ns
  return past === 0n ? instant : instant - past + tick_ns
}

export type LatestRows = { columns: string; table: string; where: readonly string[]; by: string }
export type TextOperator = Extract<Operator, 'contains' | 'starts_with'>
export type PlainMeasure = Exclude<MeasureFunction, 'count' | 'rate' | 'error_rate'>

export type Direction = 'asc' | 'desc'

/** Text sorts by its first 256 characters, so that a cursor stays small, unless `whole` is set. */
export type SortedHow = { whole: boolean; direction: Direction }

/** `read` is how the value goes into a cursor. */
export type SortExpression = { sql: string; read: string; kind: KeyKind; unknown_last?: true }

/** True where unknown text, which is stored as the empty text, would come before all other text. */
export function isSortedFirst({ type, required }: Expression, direction: Direction): boolean {
  return type === 'text' && direction === 'asc' && required !== true
}

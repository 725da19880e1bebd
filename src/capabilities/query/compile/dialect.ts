import type { FieldType, Source, StoreName } from '../language/field.ts'
import type { MeasureFunction } from '../language/measures.ts'
import type { QueryWindow } from '../language/page-query.ts'
import type { Operator, Scalar } from '../language/values.ts'
import type { KeyKind, Params } from './statement.ts'

/** A SQL expression and its type. `required`: text that is never unknown. */
export type Expression = { sql: string; type: FieldType; nullable?: boolean; required?: boolean }

/** The SQL that differs between stores. Its text never contains a client's input. */
export type Dialect = {
  store: StoreName
  /** Returns this dialect for a source: its times may be stored as integers. */
  forSource: (source: Source) => Dialect
  /** The smallest time step of the store's times. */
  tick_ns: bigint
  /** Opens the parameters of one statement. */
  params: () => Params
  /** The name of the parameter at an index, from 0. */
  param_name: (at: number) => string
  /** The placeholder of a project's id. */
  project: (params: Params, project_id: string) => string
  /** The placeholder of a value, to compare with an expression of its type. */
  value: (params: Params, type: FieldType, value: Scalar) => string
  /** The placeholder of an integer, for LIMIT and arithmetic. */
  integer: (params: Params, value: number | bigint) => string
  /** A condition: the expression is one of the values. */
  among: (params: Params, expression: Expression, values: readonly Scalar[]) => string
  /** A condition on text; on a list, `contains` tests for an element. */
  textTest: (op: TextOperator, expression: Expression, placeholder: string) => string
  /** A condition: the list, or JSON array, is not empty. */
  hasElements: (expression: Expression) => string
  /** IN for a subquery whose rows may be on other servers. */
  in_subquery: 'GLOBAL IN' | 'IN'
  /** A suffix that orders text by its bytes. */
  text_order: string
  /** Conditions on a time that exclude all months outside of the window. */
  months: (params: Params, time: string, window: QueryWindow) => string[]
  /** A subquery of each key's latest row. */
  latestRows: (rows: LatestRows) => string
  /** A whole map; empty when a join found no row. */
  wholeMap: (map: string) => string
  /** The first text if it is known, else the second. */
  firstKnown: (first: string, second: string) => string
  /** The text of a map's key; empty when the key is missing. */
  mapText: (map: string, key: string) => string
  /** Text as a number; null for other text. */
  numberFrom: (sql: string) => string
  /** An expression as the answer returns it; see `Column`. */
  output: (expression: Expression) => string
  /** Sort keys of an expression, never null: unknown values come last. */
  sortKeys: (expression: Expression, how: SortRequest) => readonly SortExpression[]
  /** The sort key of a group, with its direction: unknown values come last. */
  groupOrder: (expression: Expression, direction: Direction) => string
  /** The placeholder of a sort key of a `Position`. */
  position: (params: Params, kind: KeyKind, value: string) => string
  /** A measure of a group; see `measureFunctions`. */
  measure: (fn: PlainMeasure, expression: Expression) => string
  /** The share of the group's records that meet a condition, 0 to 1. */
  share: (condition: string) => string
  /** A time in nanoseconds since 1970. */
  nanoseconds: (time: string) => string
  /** The start of a number's bucket: the largest offset + n × width up to the number. */
  floor: (number: string, by: { width: string; offset: string }) => string
  /** A quotient with its fraction. */
  quotient: (dividend: string, divisor: string) => string
}

/** Rounds an instant up to a time step of the store. */
export function nextTick(instant: bigint, { tick_ns }: Pick<Dialect, 'tick_ns'>): bigint {
  const past = instant % tick_ns
  return past === 0n ? instant : instant - past + tick_ns
}

type LatestRows = { columns: string; table: string; where: readonly string[]; by: string }

type TextOperator = Extract<Operator, 'contains' | 'starts_with'>

export type PlainMeasure = Exclude<MeasureFunction, 'count' | 'rate' | 'error_rate'>

export type Direction = 'asc' | 'desc'

/** How to sort. Text sorts by its first 256 characters, for small cursors, unless `whole`. */
export type SortRequest = { whole: boolean; direction: Direction }

/** A sort key in SQL; `read` is its value as text, for the cursor. */
export type SortExpression = { sql: string; read: string; kind: KeyKind; unknown_last?: true }

/** Returns true when unknown text, stored as '', would sort before all other text. */
export function sortsUnknownFirst({ type, required }: Expression, direction: Direction): boolean {
  return type === 'text' && direction === 'asc' && required !== true
}

import { catalogue, type EntityName } from '../language/catalogue.ts'
import type { QueryWindow } from '../language/check-query.ts'
import type { Entity, Field, Source } from '../language/field.ts'
import type { Filter } from '../language/filter.ts'
import type { Reference } from '../language/reference.ts'
import { conditionOf, type Scope } from './conditions.ts'
import { type Dialect, type Expression, nextTick } from './dialect.ts'
import { restoredIn, rowsWithRestored, type SourceColumn } from './restored-rows.ts'
import type { Params } from './statement.ts'

/** What is common to all parts of one statement. */
export type Frame = {
  dialect: Dialect
  params: Params
  project_id: string
  entity: Entity
  window: QueryWindow
  /** Restored slices that are read too. */
  slices?: readonly string[] | undefined
}

/** Which rows are wanted, and what of them. */
export type RowsRequest = {
  references: readonly Reference[]
  /** Conditions on fields that no later version of a record can change. */
  inside: readonly Filter[]
  /** Conditions in SQL on the columns of the table that leave no wanted record's version out. */
  narrowing: readonly string[]
  /** Which end comes first, where the store reads rows in order. */
  direction: 'asc' | 'desc'
  /** All rows of the window will be read, in whatever order: no page of them. */
  whole?: boolean
}

/**
 * A subquery with each record of the window once, and the scope in which its fields are. Of
 * versions that lie side by side it keeps the one that was written last.
 */
export function rowsOf(frame: Frame, request: RowsRequest): { text: string; scope: Scope } {
  const { entity, dialect, params } = frame
  const source = sourceOf(entity, dialect)
  const columns = columnsOf(request.references, frame)
  const where = [
    `project_id = ${dialect.project(params, frame.project_id)}`,
    ...windowConditions(frame),
    ...request.inside.map((filter) => conditionOf(filter, columnScope(frame))),
    ...request.narrowing,
  ]
  const selected = [...columns.values()]
  const restored = restoredIn(frame, source.restored)
  if (restored !== undefined) {
    const text = rowsWithRestored({ source, restored, entity, where, selected, ...request })
    return { text, scope: scopeOf(frame, columns) }
  }
  const list = selected.map(({ select }) => select).join(', ') || '1 AS one'
  const { table, behind = '' } = latestVersion(source, entity, request)
  const text = `SELECT ${list}
  FROM ${table}
  WHERE ${where.join('\n    AND ')}${behind}`
  return { text, scope: scopeOf(frame, columns) }
}

/** Where the dialect's store has the entity. Throws RangeError when it has it nowhere. */
export function sourceOf(entity: Entity, { store }: Dialect): Source {
  const source = entity.stores[store]
  if (source === undefined) throw new RangeError(`${entity.name} are not in ${store}`)
  return source
}

/** Fields as columns of the table: for conditions before versions are told apart. */
export function columnScope({ dialect, params }: Frame): Scope {
  return {
    dialect,
    params,
    expression: ({ field, map_key }) => {
      if (map_key === undefined) {
        return expressionOf(field, field.derived?.[dialect.store] ?? field.name)
      }
      const text = dialect.mapText(field.name, dialect.value(params, 'text', map_key))
      return expressionOf(field, field.type === 'float' ? dialect.numberFrom(text) : text)
    },
  }
}

/** The window as conditions on columns; where a record's time may change, whole months. */
export function windowConditions({ dialect, params, entity, window }: Frame): string[] {
  const { time } = entity
  if (entity.time_moves) return dialect.months(params, time, window)
  const from = dialect.value(params, 'time', nextTick(window.from, dialect))
  const to = dialect.value(params, 'time', nextTick(window.to, dialect))
  return [`${time} >= ${from}`, `${time} < ${to}`]
}

/**
 * Both ways are exact. FINAL compares versions only where parts overlap, and reads parts that don't
 * as they are: half the time over a whole window. Sorting, and of each record the first, can stop
 * at a page's end and has the help of all indexes, so that few rows are found sooner.
 */
function latestVersion(
  { table, versioned }: Source,
  { identity }: Entity,
  { direction, whole, inside, narrowing }: RowsRequest,
): { table: string; behind?: string } {
  if (!versioned) return { table }
  if (whole && inside.length + narrowing.length === 0) return { table: `${table} FINAL` }
  const order = identity.map((column) => `${column} ${direction.toUpperCase()}`).join(', ')
  const behind = `
  ORDER BY ${order}, ingested_at DESC, message_id DESC
  LIMIT 1 BY ${identity.join(', ')}`
  return { table, behind }
}

function columnsOf(references: readonly Reference[], frame: Frame): Map<string, SourceColumn> {
  const scope = columnScope(frame)
  const columns = new Map<string, SourceColumn>()
  for (const reference of references) {
    const { name, field, map_key } = reference
    if (columns.has(name)) continue
    const { sql } = scope.expression(reference)
    const alias = map_key === undefined ? field.name : `m${columns.size}`
    const select = sql === alias ? alias : `(${sql}) AS ${alias}`
    columns.set(name, { select, expression: expressionOf(field, alias) })
  }
  return columns
}

/** A field whose values are the SQL's. */
export function expressionOf({ type, nullable, required }: Field, sql: string): Expression {
  return { sql, type, ...(nullable && { nullable }), ...(required && { required }) }
}

function scopeOf({ dialect, params }: Frame, columns: Map<string, SourceColumn>): Scope {
  return {
    dialect,
    params,
    expression: ({ name }) => {
      const column = columns.get(name)
      if (column === undefined) throw new RangeError(`${name} was not read`)
      return column.expression
    },
  }
}

/** The entity that another one is computed from. */
export function baseOf({ computed }: Entity): Entity | undefined {
  return computed && catalogue[computed.of as EntityName]
}

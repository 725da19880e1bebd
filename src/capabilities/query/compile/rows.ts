import { catalogue, type EntityName } from '../language/catalogue.ts'
import {
  type Entity,
  type Field,
  type Reference,
  referenceTo,
  type Source,
} from '../language/field.ts'
import type { Filter } from '../language/filter.ts'
import {
  columnScope,
  columnsWithRestored,
  conditionOf,
  expressionOf,
  type Frame,
  type RestoredRows,
  restoredIn,
  type Scope,
  sourceOf,
  windowConditions,
} from './conditions.ts'
import type { Expression } from './dialect.ts'

/** Compiles a subquery with each record once; see `rowsOf` and `computedRowsOf`. */
export function recordsOf(frame: Frame, request: RowsRequest): { text: string; scope: Scope } {
  return frame.entity.computed ? computedRowsOf(frame, request) : rowsOf(frame, request)
}

/** A request for rows: their fields, and the conditions that narrow reading. */
export type RowsRequest = {
  references: readonly Reference[]
  /** Conditions on fields that no later version of a record changes. */
  inside: readonly Filter[]
  /** SQL conditions on the table's columns that keep all versions of each selected record. */
  narrowing: readonly string[]
  /** Direction in which the store reads rows in order. */
  direction: 'asc' | 'desc'
  /** All rows of the window are read, in any order, rather than one page. */
  whole?: boolean
}

/**
 * Compiles a subquery with each record of the window once, in its latest version, and returns the
 * scope of its fields.
 */
function rowsOf(frame: Frame, request: RowsRequest): { text: string; scope: Scope } {
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
    return { text, scope: subqueryScope(frame, columns) }
  }
  const list = selected.map(({ select }) => select).join(', ') || '1 AS one'
  const { table, behind = '' } = latestVersion(source, entity, request)
  const text = `SELECT ${list}
  FROM ${table}
  WHERE ${where.join('\n    AND ')}${behind}`
  return { text, scope: subqueryScope(frame, columns) }
}

/**
 * Selects the latest version of each record. Both ways are exact. FINAL compares versions only
 * where parts overlap: half the time over a whole window. ORDER BY with LIMIT 1 BY can stop at the
 * page's end and use all indexes, which is faster for few rows.
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

function subqueryScope({ dialect, params }: Frame, columns: Map<string, SourceColumn>): Scope {
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

/** Returns the entity that a computed entity is made from. */
function baseOf({ computed }: Entity): Entity | undefined {
  return computed && catalogue[computed.of as EntityName]
}

/** A selected column and the expression that later parts use for it. */
type SourceColumn = { select: string; expression: Expression }

type VersionsRequest = {
  source: Source
  restored: RestoredRows
  entity: Entity
  where: readonly string[]
  selected: readonly SourceColumn[]
  direction: 'asc' | 'desc'
}

/**
 * Compiles a subquery with each record once, whether live, restored, or both: the latest version,
 * and of equal versions the live one. Both parts carry all conditions, so each reads few rows.
 */
function rowsWithRestored(asked: VersionsRequest): string {
  const { source, restored, entity, where, selected, direction } = asked
  const names = selected.map(({ expression }) => expression.sql)
  const beside = [...entity.identity, 'ingested_at', 'message_id'].filter(
    (column) => !names.includes(column),
  )
  const list = [...selected.map(({ select }) => select), ...beside].join(', ')
  const part = (table: string, is_restored: 0 | 1, conditions: readonly string[]) =>
    `SELECT ${list}, ${is_restored} AS is_restored
    FROM ${table}
    WHERE ${conditions.join('\n      AND ')}`
  const order = entity.identity.map((column) => `${column} ${direction.toUpperCase()}`).join(', ')
  return `SELECT ${names.join(', ') || '1 AS one'}
  FROM (
    ${part(source.table, 0, where)}
    UNION ALL
    ${part(restored.table, 1, [...where, restored.condition])}
  ) AS version
  ORDER BY ${order}, ingested_at DESC, message_id DESC, is_restored
  LIMIT 1 BY ${entity.identity.join(', ')}`
}

const margin_ns = 86_400_000_000_000n

/**
 * Compiles a subquery with one row for each group of another entity's records that began in the
 * window. It also reads records up to a day outside of the window, or traces at its edges were cut.
 */
function computedRowsOf(frame: Frame, request: RowsRequest): { text: string; scope: Scope } {
  const { entity } = frame
  const references = uniqueByName(request.references)
  const fields = references.filter(({ map_key }) => map_key === undefined).map(({ field }) => field)
  const grouped = groupRows(frame, { ...request, references }, fields)
  const scope = computedScope(frame, references)
  const recorded = references.filter(isFromRecord(entity))
  if (recorded.length === 0) return { text: grouped, scope }
  const plain = references.filter((reference) => !recorded.includes(reference))
  const list = [
    ...plain.map(({ field }) => `g.${field.name} AS ${field.name}`),
    ...recorded.map((reference) => recordedColumn(reference, scope)),
  ]
  const text = `SELECT ${list.join(', ')}
  FROM (${grouped}) AS g
  LEFT JOIN (${recordRows(frame, recorded)}) AS r ON r.trace_id = g.trace_id`
  return { text, scope }
}

function uniqueByName(references: readonly Reference[]): Reference[] {
  return [...new Map(references.map((reference) => [reference.name, reference])).values()]
}

function isFromRecord(entity: Entity) {
  return ({ field }: Reference) => field.recorded === true || entity.maps.includes(field.name)
}

function groupRows(frame: Frame, request: RowsRequest, fields: Field[]) {
  const { entity, window, dialect, params } = frame
  const base = baseOf(entity)
  if (base === undefined) throw new RangeError(`${entity.name} are not computed`)
  const wanted = fields.filter(({ grouped }) => grouped)
  const reads = new Set(['trace_id', 'start_time', ...wanted.flatMap(readsOf)])
  const rows = rowsOf(
    {
      ...frame,
      entity: base,
      window: { from: window.from - margin_ns, to: window.to + margin_ns },
    },
    { ...request, references: [...reads].map((name) => referenceTo(base, name)), whole: true },
  )
  const list = wanted
    .filter(({ name }) => name !== 'trace_id')
    .map(({ name, grouped }) => `, ${grouped?.sql[dialect.store]} AS ${name}`)
  const from = dialect.value(params, 'time', window.from)
  const to = dialect.value(params, 'time', window.to)
  return `SELECT o.trace_id AS trace_id${list.join('')}
  FROM (${rows.text}) AS o
  GROUP BY o.trace_id
  HAVING min(o.start_time) >= ${from} AND min(o.start_time) < ${to}`
}

function readsOf({ grouped }: Field): readonly string[] {
  return grouped?.reads ?? []
}

/** Selects each trace's latest record. Its time is the client's, so whole months are read. */
function recordRows(frame: Frame, recorded: readonly Reference[]): string {
  const { dialect, params, entity, window } = frame
  const columns = new Set(['trace_id', ...recorded.map(({ field }) => field.name)])
  const around = { from: window.from - margin_ns, to: window.to + margin_ns }
  const source = sourceOf(entity, dialect)
  const table = String(source.record_table)
  const where = [
    `project_id = ${dialect.project(params, frame.project_id)}`,
    ...dialect.months(params, 'time', around),
  ]
  const restored = restoredIn(frame, source.restored_records)
  const rows = { columns: [...columns].join(', '), by: 'trace_id' }
  if (restored === undefined) return dialect.latestRows({ ...rows, table, where })
  const versioned = [...columns, 'ingested_at', 'message_id'].join(', ')
  const both = columnsWithRestored({ columns: versioned, table, restored, where })
  return dialect.latestRows({ ...rows, table: `(${both}) AS recorded`, where: ['1 = 1'] })
}

/** Selects a field from the trace's record, or from its observations if the record lacks it. */
function recordedColumn({ field, map_key, name }: Reference, scope: Scope): string {
  const alias = scope.expression({ name, field }).sql
  if (map_key !== undefined) {
    const key = scope.dialect.value(scope.params, 'text', map_key)
    const text = scope.dialect.mapText(`r.${field.name}`, key)
    return `${field.type === 'float' ? scope.dialect.numberFrom(text) : text} AS ${alias}`
  }
  if (!field.recorded) return `${scope.dialect.wholeMap(`r.${field.name}`)} AS ${alias}`
  const known = scope.dialect.firstKnown(`r.${field.name}`, `g.${field.name}`)
  return `${known} AS ${alias}`
}

function computedScope({ dialect, params }: Frame, references: readonly Reference[]): Scope {
  const names = references.map(({ name }) => name)
  return {
    dialect,
    params,
    expression: ({ name, field }) =>
      expressionOf(field, name === field.name ? name : `m${names.indexOf(name)}`),
  }
}

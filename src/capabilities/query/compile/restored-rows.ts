import type { Entity, Source } from '../language/field.ts'
import type { Expression } from './dialect.ts'
import type { Params } from './statement.ts'

/** A column that is read, and what it is called afterwards. */
export type SourceColumn = { select: string; expression: Expression }

/** The rows of some slices: their table, and the condition that leaves no others. */
export type RestoredRows = { table: string; condition: string }

/** The restored rows that a statement has to read as well; undefined when it has none to read. */
export function restoredIn(
  { slices = [], params }: { slices?: readonly string[] | undefined; params: Params },
  table: string | undefined,
): RestoredRows | undefined {
  if (slices.length === 0 || table === undefined) return undefined
  return { table, condition: `slice_id IN ${params.add(slices, 'Array(UUID)')}` }
}

type Asked = {
  source: Source
  restored: RestoredRows
  entity: Entity
  where: readonly string[]
  selected: readonly SourceColumn[]
  direction: 'asc' | 'desc'
}

/**
 * Each record once, be it live, restored, or both: the version that was written last, and of equal
 * ones the live one. Conditions stand in both parts, so that each reads no more than it has to.
 */
export function rowsWithRestored(asked: Asked): string {
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

/** Some columns of rows, live and restored, of whatever version. */
export function columnsWithRestored(about: {
  columns: string
  table: string
  restored: RestoredRows | undefined
  where: readonly string[]
}): string {
  const { columns, table, restored, where } = about
  const live = `SELECT ${columns} FROM ${table} WHERE ${where.join(' AND ')}`
  if (restored === undefined) return live
  const conditions = [...where, restored.condition].join(' AND ')
  return `${live}
      UNION ALL SELECT ${columns} FROM ${restored.table} WHERE ${conditions}`
}

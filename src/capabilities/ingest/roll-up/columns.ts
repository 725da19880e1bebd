import { sql } from '../../../platform/relational/index.ts'

/** Columns that are written, with their types. */
type Columns = { readonly [column: string]: string }

/** Their names, for a list. */
export const names = (columns: Columns) => sql.raw(Object.keys(columns).join(', '))

/** Names and types, for records of JSON. */
export const definitions = (columns: Columns) =>
  sql.raw(
    Object.entries(columns)
      .map(([column, type]) => `${column} ${type}`)
      .join(', '),
  )

/**
 * Assignments of what is `given`. A start never moves forward: a roll-up that was read before an
 * earlier call came must not hide that call from the next one, which reads from the start on.
 */
export const assignments = (table: 'tasks' | 'conversations', columns: Columns) =>
  sql.raw(
    Object.keys(columns)
      .map((column) =>
        column === 'started_at'
          ? `started_at = least(${table}.started_at, given.started_at)`
          : `${column} = given.${column}`,
      )
      .join(', '),
  )

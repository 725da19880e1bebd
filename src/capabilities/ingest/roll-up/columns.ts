import { sql } from '../../../platform/relational/index.ts'

/** Columns to write, with their types. */
type Columns = { readonly [column: string]: string }

/** Returns the names of columns as an SQL list. */
export const names = (columns: Columns) => sql.raw(Object.keys(columns).join(', '))

/** Returns names and types for `json_to_recordset`. */
export const definitions = (columns: Columns) =>
  sql.raw(
    Object.entries(columns)
      .map(([column, type]) => `${column} ${type}`)
      .join(', '),
  )

/**
 * Returns assignments from `given`. A start never moves forward: a roll-up that was read before an
 * earlier call arrived must not hide that call from the next one, which reads from the start on.
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

import type { ColumnType } from 'kysely'

/**
 * A `timestamptz(3)`: read as ISO 8601 UTC with `Z` and milliseconds, written as such a string or a
 * Date. Columns store milliseconds only, so a value that was read equals the stored value, and can
 * be used in a cursor.
 */
export type Instant = ColumnType<string, string | Date, string | Date>

/** A nullable `Instant`, null by default. */
export type InstantOrNull = ColumnType<
  string | null,
  string | Date | null | undefined,
  string | Date | null
>

/** An `Instant` with the default `now()`. */
export type InstantByDefault = ColumnType<string, string | Date | undefined, string | Date>

/**
 * A column with a default. A `bigint` is read as a number, exact up to 2^53; a `numeric` is read
 * and written as decimal text, because a float would lose digits.
 */
export type ByDefault<T> = ColumnType<T, T | undefined, T>

/** A column that the database computes. */
export type Computed<T> = ColumnType<T, never, never>

/** A nullable column, null by default. */
export type OrNull<T> = ColumnType<T | null, T | null | undefined, T | null>

/**
 * A `jsonb`: read as a parsed value, written as JSON text, because pg turns arrays into SQL arrays.
 */
export type Json<T> = ColumnType<T, string, string>

/** A `Json` with a default. */
export type JsonByDefault<T> = ColumnType<T, string | undefined, string>

/** A nullable `Json`, null by default. */
export type JsonOrNull<T> = ColumnType<T | null, string | null | undefined, string | null>

/** A JSON object of a shape that the capability of the table knows. */
export type JsonRecord = Record<string, unknown>

import type { ColumnType } from 'kysely'

/**
 * A `timestamptz(3)`: read as ISO 8601 UTC with `Z` and milliseconds, written as such a string or
 * a Date. The columns hold milliseconds and no more, so what is read compares equal to what is
 * stored (a cursor made of it finds its place again).
 */
export type Instant = ColumnType<string, string | Date, string | Date>

/** An `Instant` that may be missing; left out on insert it is null. */
export type InstantOrNull = ColumnType<
  string | null,
  string | Date | null | undefined,
  string | Date | null
>

/** An `Instant` that the database sets (`now()`) when an insert leaves it out. */
export type InstantByDefault = ColumnType<string, string | Date | undefined, string | Date>

/** A `bigint` that counts, 0 when an insert leaves it out. Read as a number, exact up to 2^53. */
export type CountByDefault = ColumnType<number, number | undefined, number>

/** A `numeric(20,9)` of US dollars, a decimal string both ways: a float would lose digits. */
export type DollarsByDefault = ColumnType<string, string | undefined, string>

/** A column with a default: may be left out on insert. */
export type ByDefault<T> = ColumnType<T, T | undefined, T>

/** A column that may be null, and is when an insert leaves it out. */
export type OrNull<T> = ColumnType<T | null, T | null | undefined, T | null>

/** A `jsonb`: read parsed; written as JSON text, since pg would make an SQL array of an array. */
export type Json<T> = ColumnType<T, string, string>

/** A `Json` that may be null, and is when an insert leaves it out. */
export type JsonOrNull<T> = ColumnType<T | null, string | null | undefined, string | null>

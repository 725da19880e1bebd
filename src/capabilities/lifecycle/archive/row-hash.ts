import type { ArchivedColumn } from './manifest.ts'

/** The column of an archive's files that holds each row's hash. */
export const rowHashColumn = 'row_hash'

/**
 * The hash of a row over these columns, as SQL. Unknown values would make all of it unknown, so
 * they are told apart from known ones in a part of their own.
 */
export function rowHash(columns: readonly ArchivedColumn[]): string {
  const parts = columns.map(({ name, type }) =>
    type.startsWith('Nullable(')
      ? `isNull(${quoted(name)}), ifNull(toString(${quoted(name)}), '')`
      : quoted(name),
  )
  return `cityHash64(${parts.join(', ')})`
}

/** A column's name as SQL takes it. Throws TypeError for a name that no column of ours has. */
export function quoted(name: string): string {
  if (/^[a-z][a-z0-9_]*$/.test(name)) return `\`${name}\``
  throw new TypeError(`got the column ${JSON.stringify(name.slice(0, 80))}, expected a plain name`)
}

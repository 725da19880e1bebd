/** Characters that LIKE reads as wildcards or as its escape. */
const special = /[\\%_]/g

/**
 * Converts a glob to a pattern of LIKE that matches the same texts in ClickHouse and PostgreSQL:
 * `*` is any characters, `?` one character, everything else itself.
 */
export function likePattern(glob: string): string {
  return glob.replace(special, '\\$&').replace(/\*+/g, '%').replaceAll('?', '_')
}

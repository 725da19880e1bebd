import { type Problem, problem } from './problem.ts'

/** Largest total that is counted exactly. A larger total is a lower bound. */
export const totalExactMax = 10_000

/** Page fields of a list, beside its items. `total_is_exact` is present only for lower bounds. */
export type PageInfo = { total: number; total_is_exact?: false; next_cursor: string | null }

/** Builds the page fields. `counted` comes from a count that stops one above the limit. */
export function pageInfo(counted: number, nextCursor: string | null): PageInfo {
  if (counted <= totalExactMax) return { total: counted, next_cursor: nextCursor }
  return { total: totalExactMax, total_is_exact: false, next_cursor: nextCursor }
}

/**
 * Cuts the page from rows of which one more than `limit` was read. `last` is the row that the next
 * page begins after; undefined on the last page.
 */
export function cutPage<R>(rows: readonly R[], limit: number): { items: R[]; last: R | undefined } {
  const items = rows.slice(0, limit)
  return { items, last: rows.length > limit ? items.at(-1) : undefined }
}

/** Encodes the sort position of a page's last item. Opaque to clients, but not a secret. */
export function encodeCursor(list: string, position: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify([list, ...position])).toString('base64url')
}

/**
 * Decodes a cursor of the same list. `list` names the list and its order, so that a cursor of
 * another order is rejected. Throws `invalid_cursor`.
 */
export function decodeCursor(
  list: string,
  cursor: string,
  length: number,
): (string | number | null)[] {
  const [name, ...position] = parsedCursor(cursor)
  const scalar = (value: unknown) =>
    value === null || typeof value === 'string' || typeof value === 'number'
  if (name !== list || position.length !== length || !position.every(scalar)) {
    throw problem('invalid_cursor', {
      detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this list and order`,
    })
  }
  return position as (string | number | null)[]
}

/** Creates the error for a cursor of the list whose position is not one of its items. */
export function invalidCursor(cursor: string): Problem {
  return problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this list`,
  })
}

function parsedCursor(cursor: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}

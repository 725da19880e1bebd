import { isUuid } from '../../kernel/ids.ts'
import { decodeCursor, encodeCursor, type PageInfo, pageInfo } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import { cursorParameter, limitParameter } from '../../model/list-query.ts'

/** What to read for a page of a list sorted by id: one row more than it shows, and a count. */
export type IdPage = { after: string | undefined; limit: number; count_max: number }

/** The query of such a list. Ids sort by the time they were made, so the oldest comes first. */
export const idPageQuery = { limit: limitParameter, cursor: cursorParameter }

/** Reads the place a cursor of this list stands for. Throws `invalid_cursor`. */
export function idAfter(list: string, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  const [id] = decodeCursor(list, cursor, 1)
  if (typeof id === 'string' && isUuid(id)) return id
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this list`,
  })
}

/** Cuts the extra row off and says where the next page begins. */
export function idPage<R>(
  found: { rows: readonly R[]; counted: number },
  about: { list: string; limit: number; idOf: (row: R) => string },
): { items: R[]; info: PageInfo } {
  const items = found.rows.slice(0, about.limit)
  const last = found.rows.length > about.limit ? items.at(-1) : undefined
  const cursor = last === undefined ? null : encodeCursor(about.list, [about.idOf(last)])
  return { items, info: pageInfo(found.counted, cursor) }
}

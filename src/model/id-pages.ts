import { z } from 'zod'
import { isUuid } from '../kernel/ids.ts'
import {
  cutPage,
  decodeCursor,
  encodeCursor,
  invalidCursor,
  type PageInfo,
  pageInfo,
  totalExactMax,
} from '../kernel/pages.ts'
import { cursorParameter, limitParameter } from './list-query.ts'

/**
 * The rows to read for a page of a list sorted by id: those that come after an id in the order of
 * the list. `limit` is one more than the page shows, `count_max` where counting stops.
 */
export type IdPage = { after: string | undefined; limit: number; count_max: number }

/** Query parameters of a list sorted by id. Ids sort by creation time. */
export const idPageQuery = { limit: limitParameter, cursor: cursorParameter }

/** Fields of the reply of a list, beside its items. */
export const pageFields = {
  total: z.int().nonnegative(),
  total_is_exact: z.literal(false).optional(),
  next_cursor: z.string().nullable(),
}

/** Returns the id after which a cursor's page begins. Throws `invalid_cursor`. */
export function idAfter(
  list: string,
  cursor: string | undefined,
  isId = isUuid,
): string | undefined {
  if (cursor === undefined) return undefined
  const [id] = decodeCursor(list, cursor, 1)
  if (typeof id === 'string' && isId(id)) return id
  throw invalidCursor(cursor)
}

/** Returns the rows to read for the page of a query. Throws `invalid_cursor`. */
export function idPageAfter(
  list: string,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
  isId?: (id: string) => boolean,
): IdPage {
  return { after: idAfter(list, cursor, isId), limit: limit + 1, count_max: totalExactMax + 1 }
}

/** Reads the page of a query from a list sorted by id. Throws `invalid_cursor`. */
export async function readIdPage<R extends { id: string } | { user_id: string }>(
  list: string,
  query: { cursor?: string | undefined; limit: number },
  read: (page: IdPage) => Promise<{ rows: readonly R[]; counted: number }>,
): Promise<{ items: R[]; info: PageInfo }> {
  const result = await read(idPageAfter(list, query))
  const idOf = (row: R) => ('id' in row ? row.id : row.user_id)
  return idPage(result, { list, limit: query.limit, idOf })
}

/** Cuts off the extra row and returns the page with its cursor. */
export function idPage<R>(
  { rows, counted }: { rows: readonly R[]; counted: number },
  { list, limit, idOf }: { list: string; limit: number; idOf: (row: R) => string },
): { items: R[]; info: PageInfo } {
  const { items, last } = cutPage(rows, limit)
  const cursor = last === undefined ? null : encodeCursor(list, [idOf(last)])
  return { items, info: pageInfo(counted, cursor) }
}

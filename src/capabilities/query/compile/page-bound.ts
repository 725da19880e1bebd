import type { Query, SortKey } from '../language/check-query.ts'
import { behind, type Position, sortedBy } from './page-order.ts'
import { columnScope, type Frame, type RowsRequest, sourceOf, windowConditions } from './rows.ts'

/**
 * A condition that leaves out what lies behind the page: the latest rows, more than the page has, are
 * counted before anything else of them is read, by what comes first in their identity (all of it
 * would cost half as much again). Do they differ often enough, the page is among them; else, since
 * many are alike or were sent again, the whole window is read. Without it, ClickHouse reads a block
 * of every part. For pages with the latest first that hold every record.
 */
export function pageBound(
  { frame, query, order, after }: PlannedPage,
  request: Pick<RowsRequest, 'inside' | 'narrowing'>,
): string[] {
  const { entity, dialect, params, window } = frame
  const { identity, time } = entity
  const { table, versioned } = sourceOf(entity, dialect)
  const latestFirst = identity.every((name, at) => {
    return order[at]?.reference.name === name && order[at]?.direction === 'desc'
  })
  const filtered = query.where !== undefined || request.inside.length + request.narrowing.length > 0
  if (!versioned || filtered || !latestFirst || identity[0] !== time) return []
  const first = identity.slice(0, 2)
  const names = first.join(', ')
  const scope = columnScope(frame)
  const where = [
    `project_id = ${dialect.project(params, frame.project_id)}`,
    ...windowConditions(frame),
    ...(after ? [behind(sortedBy(order, entity, scope), after, scope)] : []),
  ]
  const limit = dialect.integer(params, query.limit)
  const from = dialect.value(params, 'time', window.from)
  return [
    `${time} >= (
      SELECT if(count() > ${limit}, min(${time}), ${from}) FROM (
        SELECT DISTINCT ${names} FROM (
          SELECT ${names} FROM ${table} WHERE ${where.join(' AND ')}
          ORDER BY ${first.map((name) => `${name} DESC`).join(', ')}
          LIMIT ${dialect.integer(params, withRepeats(query.limit))}
        ) AS latest
      ) AS records
    )`,
  ]
}

type PlannedPage = {
  frame: Frame
  query: Query
  order: readonly SortKey[]
  after: Position | undefined
}

/** Rows that hold so many records and one, unless more than half of them repeat one another. */
function withRepeats(limit: number): number {
  return 2 * limit + 100
}

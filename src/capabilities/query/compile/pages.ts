import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { isStorable } from '../../../model/list-query.ts'
import { referenceTo } from '../language/field.ts'
import type { Query, QueryWindow, SortKey } from '../language/page-query.ts'
import { columnScope, type Frame, type Scope, sourceOf, windowConditions } from './conditions.ts'
import type { SortExpression } from './dialect.ts'
import type { RowsRequest } from './rows.ts'
import type { KeyColumn, KeyKind } from './statement.ts'

/** The position where a page begins: the sort keys of the row before it, as text. */
export type Position = readonly string[]

/**
 * Returns the requested order followed by the entity's identity. Every record then has a position
 * of its own, and pages neither skip nor repeat one. By default the latest records come first.
 */
export function fullOrder({ entity, order_by }: Query): readonly SortKey[] {
  const given = order_by.length > 0 ? order_by : [sortKeyOn(entity, entity.time, 'desc')]
  const direction = given.at(-1)?.direction ?? 'desc'
  const order = new Map(given.map((key) => [key.reference.name, key]))
  for (const name of entity.identity) {
    if (!order.has(name)) order.set(name, sortKeyOn(entity, name, direction))
  }
  return [...order.values()]
}

function sortKeyOn(entity: Query['entity'], name: string, direction: 'asc' | 'desc'): SortKey {
  return { reference: referenceTo(entity, name), direction }
}

/**
 * Narrows the window to the part after a position, if the order begins with a time that never
 * changes. Keeps the instant of the position itself, which further records may share.
 */
export function narrowWindow(
  { entity, window }: Query,
  order: readonly SortKey[],
  { after: [first], tick_ns }: { after: Position; tick_ns: bigint },
): QueryWindow {
  const [key] = order
  if (entity.time_moves || key?.reference.name !== entity.time || first === undefined) return window
  const at = BigInt(first)
  if (key.direction === 'asc') return { ...window, from: at > window.from ? at : window.from }
  const to = at + tick_ns
  return { ...window, to: to < window.to ? to : window.to }
}

type SortedExpression = SortExpression & { direction: 'asc' | 'desc' }

/** Returns the order as SQL expressions that are never null. */
export function sortExpressions(
  order: readonly SortKey[],
  { identity }: Query['entity'],
  scope: Scope,
): readonly SortedExpression[] {
  return order.flatMap(({ reference, direction }) => {
    // Identity fields must be compared in full, or two records could share a position.
    const whole = identity.includes(reference.name)
    return scope.dialect
      .sortKeys(scope.expression(reference), { whole, direction })
      .map((key) => ({ ...key, direction: key.unknown_last ? ('asc' as const) : direction }))
  })
}

/** Returns a condition for rows after the position. Throws `invalid_cursor` for another order's. */
export function afterPosition(
  keys: readonly SortedExpression[],
  after: Position,
  { dialect, params }: Scope,
): string {
  if (after.length !== keys.length) throw problem('invalid_cursor')
  let condition = ''
  for (const [at, { sql, kind, direction }] of [...keys.entries()].reverse()) {
    const placeholder = dialect.position(params, kind, String(after[at]))
    const beyond = `${sql} ${direction === 'asc' ? '>' : '<'} ${placeholder}`
    condition =
      condition === '' ? beyond : `(${beyond} OR (${sql} = ${placeholder} AND ${condition}))`
  }
  return condition
}

/**
 * Returns a condition that spares ClickHouse from reading a block of every part: a lower bound of
 * time for unfiltered pages with the latest records first. A subquery reads the keys of the latest
 * rows and counts distinct ones, by the first two columns of the identity (all of them would cost
 * half as much again). With more distinct keys than the page needs, the earliest of them bounds the
 * page. Otherwise, with many repeated rows, the whole window is read.
 */
export function pageBound(
  { frame, query, order, after }: PageToBound,
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
    ...(after ? [afterPosition(sortExpressions(order, entity, scope), after, scope)] : []),
  ]
  const limit = dialect.integer(params, query.limit)
  const from = dialect.value(params, 'time', window.from)
  return [
    `${time} >= (
      SELECT if(count() > ${limit}, min(${time}), ${from}) FROM (
        SELECT DISTINCT ${names} FROM (
          SELECT ${names} FROM ${table} WHERE ${where.join(' AND ')}
          ORDER BY ${first.map((name) => `${name} DESC`).join(', ')}
          LIMIT ${dialect.integer(params, rowsWithRepeats(query.limit))}
        ) AS latest
      ) AS records
    )`,
  ]
}

type PageToBound = {
  frame: Frame
  query: Query
  order: readonly SortKey[]
  after: Position | undefined
}

/** Returns how many rows hold `limit` + 1 records if at most half of the rows are repeats. */
function rowsWithRepeats(limit: number): number {
  return 2 * limit + 100
}

/** Returns the cursor after a page's last row. `list` names the query; see `readCursor`. */
export function cursorAfter(
  list: string,
  row: Readonly<Record<string, unknown>>,
  keys: readonly KeyColumn[],
): string {
  return encodeCursor(
    list,
    keys.map(({ alias }) => String(row[alias])),
  )
}

/** Reads a cursor. Throws `invalid_cursor` when it is malformed or belongs to another list. */
export function readCursor(list: string, cursor: string, keys: readonly KeyColumn[]): Position {
  const position = decodeCursor(list, cursor, keys.length)
  return position.map((part, at) => {
    const kind = keys[at]?.kind ?? 'text'
    if (typeof part === 'string' && isKeyValue(part, kind)) return part
    throw problem('invalid_cursor', { detail: 'cursor: expected the next_cursor of a page' })
  })
}

/** Cursors can be forged, so each part must be a value that its column can hold. */
const patterns: Readonly<Record<Exclude<KeyKind, 'text' | 'list' | 'json'>, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  integer: /^-?\d{1,18}$/,
  time: /^\d{1,19}$/,
  decimal: /^-?\d{1,28}(\.\d{1,9})?$/,
  float: /^\d{1,20}$/,
  bool: /^(true|false|[01tf])$/,
  null_flag: /^[01]$/,
}

const int64_max = 2n ** 63n - 1n

const uint64_max = 2n ** 64n - 1n

function isKeyValue(text: string, kind: KeyKind): boolean {
  if (kind === 'text' || kind === 'list' || kind === 'json') return isStorable(text)
  if (!patterns[kind].test(text)) return false
  if (kind === 'time') return BigInt(text) <= int64_max
  return kind !== 'float' || BigInt(text) <= uint64_max
}

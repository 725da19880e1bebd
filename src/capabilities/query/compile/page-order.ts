import { problem } from '../../../kernel/problem.ts'
import type { Query, QueryWindow, SortKey } from '../language/check-query.ts'
import type { Scope } from './conditions.ts'
import type { SortExpression } from './dialect.ts'

/** Where a page begins: the keys of the row before it, as its statement's `keys` showed them. */
export type Position = readonly string[]

/**
 * The order that was asked for, and behind it what tells records apart, so that every record has a
 * place of its own and pages neither skip nor repeat one. Left out, the latest comes first.
 */
export function fullOrder({ entity, order_by }: Query): readonly SortKey[] {
  const given = order_by.length > 0 ? order_by : [keyOf(entity, entity.time, 'desc')]
  const direction = given.at(-1)?.direction ?? 'desc'
  const order = new Map(given.map((key) => [key.reference.name, key]))
  for (const name of entity.identity) {
    if (!order.has(name)) order.set(name, keyOf(entity, name, direction))
  }
  return [...order.values()]
}

function keyOf(entity: Query['entity'], name: string, direction: 'asc' | 'desc'): SortKey {
  const field = entity.fields[name]
  if (field === undefined) throw new RangeError(`${entity.name} have no ${name}`)
  return { reference: { name, field }, direction }
}

/**
 * Returns what of the window is left behind a position, when the time comes first and never changes.
 * It keeps the instant of the position itself, which further records may have.
 */
export function narrowedWindow(
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

/** The order as expressions that are never null. */
export function sortedBy(
  order: readonly SortKey[],
  { identity }: Query['entity'],
  scope: Scope,
): readonly SortedExpression[] {
  return order.flatMap(({ reference, direction }) => {
    // A field of the identity must not be cut.
    const whole = identity.includes(reference.name)
    return scope.dialect
      .sortKeys(scope.expression(reference), { whole, direction })
      .map((key) => ({ ...key, direction: key.unknown_last ? ('asc' as const) : direction }))
  })
}

/** True for rows behind the position. Throws `invalid_cursor` when it is none of this order. */
export function behind(
  keys: readonly SortedExpression[],
  after: Position,
  { dialect, params }: Scope,
): string {
  if (after.length !== keys.length) throw problem('invalid_cursor')
  let condition = ''
  for (const [at, { sql, kind, direction }] of [...keys.entries()].reverse()) {
    const place = dialect.position(params, kind, String(after[at]))
    const beyond = `${sql} ${direction === 'asc' ? '>' : '<'} ${place}`
    condition = condition === '' ? beyond : `(${beyond} OR (${sql} = ${place} AND ${condition}))`
  }
  return condition
}

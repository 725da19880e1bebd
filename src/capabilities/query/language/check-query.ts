import { isoFromNs } from '../../../kernel/time.ts'
import { nsFromIso } from '../../../model/list-query.ts'
import { catalogue } from './catalogue.ts'
import { type Faults, unexpected } from './faults.ts'
import type { Entity } from './field.ts'
import { type Filter, type FilterContext, readFilter } from './filter.ts'
import { queryLimits } from './limits.ts'
import type { AggregateBody, QueryBody } from './query-body.ts'
import { type Reference, referenceOf } from './reference.ts'

/** A sort key that holds for its entity. */
export type SortKey = { reference: Reference; direction: 'asc' | 'desc' }

/** Whether restored rows are asked for too, and of which slices, once somebody has looked. */
export type RestoredScope = { include_restored: boolean; slices?: readonly string[] }

/** From inclusive, to exclusive, in nanoseconds since 1970. */
export type QueryWindow = { from: bigint; to: bigint }

/** A query whose every part holds. */
export type Query = {
  entity: Entity
  window: QueryWindow
  where: Filter | undefined
  select: readonly Reference[]
  order_by: readonly SortKey[]
  limit: number
} & RestoredScope

/** Looks up what a body names; undefined parts have left faults behind. */
export function checkQuery(body: QueryBody, faults: Faults): Query | undefined {
  const entity = catalogue[body.entity]
  const context = filterContext(entity, faults)
  const window = checkedWindow(body, faults)
  const query = {
    entity,
    where: body.where === undefined ? undefined : readFilter(body.where, ['where'], context),
    select: selected(entity, body.select, faults),
    order_by: sorted(entity, body.order_by ?? [], faults),
    limit: body.limit,
    include_restored: checkedRestored(entity, body, faults),
  }
  return window && faults.list.length === 0 ? { ...query, window } : undefined
}

/** What reads the filters of an entity's fields. */
export function filterContext(entity: Entity, faults: Faults): FilterContext {
  return {
    faults,
    resolve: (name, path) => referenceOf(entity, name, path, faults),
    size: { clauses: 0, values_bytes: 0 },
  }
}

const day_ns = 86_400_000_000_000n

/** The window; refused when it is turned round or wider than allowed. */
export function checkedWindow(
  { window, allow_wide }: QueryBody | AggregateBody,
  faults: Faults,
): QueryWindow | undefined {
  const [from, to] = [instant(window.from, 'from', faults), instant(window.to, 'to', faults)]
  if (from === undefined || to === undefined) return undefined
  if (from >= to) {
    const before = `an instant before to, ${isoFromNs(to)}`
    return faults.add(['window', 'from'], unexpected(window.from, before))
  }
  const days_max = queryLimits.window_days_max
  if (to - from > BigInt(days_max) * day_ns && !allow_wide) {
    return faults.add(['window'], `expected at most ${days_max} days, or allow_wide: true`)
  }
  return { from, to }
}

/** True when restored rows are asked for; refused for what is never archived. */
export function checkedRestored(
  entity: Entity,
  { include_restored }: QueryBody | AggregateBody,
  faults: Faults,
): boolean {
  const canBe = Object.values(entity.stores).some(({ restored }) => restored !== undefined)
  if (include_restored && !canBe) {
    faults.add(['include_restored'], `expected false: ${entity.name} are never archived`)
  }
  return include_restored
}

function instant(text: string, side: 'from' | 'to', faults: Faults): bigint | undefined {
  const ns = nsFromIso(text)
  const expected = 'an ISO 8601 instant from 1970 to 2261 with Z or an offset'
  return ns ?? faults.add(['window', side], unexpected(text, expected))
}

function selected(
  entity: Entity,
  names: readonly string[] | undefined,
  faults: Faults,
): Reference[] {
  if (names === undefined) {
    const shown = Object.values(entity.fields).filter(({ content }) => !content)
    return shown.map((field) => ({ name: field.name, field }))
  }
  const references: Reference[] = []
  for (const [at, name] of names.entries()) {
    const path = ['select', at]
    if (names.indexOf(name) < at) faults.add(path, unexpected(name, 'each field once'))
    const whole = entity.maps.includes(name)
    const reference = whole ? wholeMap(name) : referenceOf(entity, name, path, faults)
    if (reference) references.push(reference)
  }
  return references
}

/** A map can be shown as a whole; it can not be compared. */
function wholeMap(name: string): Reference {
  return { name, field: { name, type: 'json', about: '', content: true } }
}

function sorted(
  entity: Entity,
  keys: readonly { field: string; direction: 'asc' | 'desc' }[],
  faults: Faults,
): SortKey[] {
  const sortKeys: SortKey[] = []
  for (const [at, { field, direction }] of keys.entries()) {
    const path = ['order_by', at, 'field']
    if (keys.findIndex((each) => each.field === field) < at) {
      faults.add(path, unexpected(field, 'each field once'))
    }
    const reference = referenceOf(entity, field, path, faults)
    if (!reference) continue
    const { type, content } = reference.field
    if (type === 'list' || type === 'json' || (content && reference.map_key === undefined)) {
      faults.add(path, unexpected(field, 'a field that can be sorted by: no content, list or JSON'))
    }
    sortKeys.push({ reference, direction })
  }
  return sortKeys
}

import { z } from 'zod'
import { isoFromNs } from '../../../kernel/time.ts'
import { expected, nsFromIso } from '../../../model/list-query.ts'
import { documentedAs, record } from '../../../model/named-schemas.ts'
import { catalogue, entityNames } from './catalogue.ts'
import { collectFaults, type Faults, unexpected } from './faults.ts'
import { type Entity, findField, type Reference } from './field.ts'
import { type Filter, type FilterContext, filterSchema, readFilter } from './filter.ts'
import { queryLimits } from './limits.ts'

const direction = z
  .enum(['asc', 'desc'], { error: expected('asc or desc') })
  .describe('`asc`: smallest or earliest first. Unknown values come last in both directions.')

export const sortKeyBody = record('SortKey', {
  field: z.string().min(1).max(300).describe('A field of the entity.'),
  direction: direction.default('desc'),
})

export const filterBody = documentedAs(z.unknown(), filterSchema)

/** The time range of a query's records. */
export const queryWindow = record('QueryWindow', {
  from: z.string().describe('Start of the window, inclusive; ISO 8601.'),
  to: z.string().describe('End of the window, exclusive; ISO 8601.'),
})

export const sharedBody = {
  entity: z
    .enum(entityNames, { error: expected(`one of ${entityNames.join(', ')}`) })
    .meta({ id: 'QueryEntity' })
    .describe('Kind of record to select.'),
  window: queryWindow.describe(
    `Time range of the records; at most ${queryLimits.window_days_max} days unless allow_wide.`,
  ),
  allow_wide: z.boolean().default(false).describe('Allows a window of any length.'),
  where: filterBody.optional(),
  include_restored: z
    .boolean()
    .default(false)
    .describe(
      'Includes rows of restored slices until they expire. A row that is also live counts once.',
    ),
  limit: z
    .int({ error: expected('a whole number') })
    .min(1, { error: expected(`1 to ${queryLimits.rows_max}`) })
    .max(queryLimits.rows_max, { error: expected(`1 to ${queryLimits.rows_max}`) })
    .default(queryLimits.rows_default)
    .describe(`Maximum rows returned, 1–${queryLimits.rows_max.toLocaleString('en-US')}.`),
}

/** The body of a query, before its fields are looked up. */
export const queryBody = record('Query', {
  ...sharedBody,
  select: z
    .array(z.string().max(300))
    .min(1)
    .max(queryLimits.select_max)
    .optional()
    .describe('Fields of each row. Default: all fields except large ones.'),
  order_by: z.array(sortKeyBody).max(queryLimits.order_by_max).optional(),
  cursor: z
    .string()
    .min(1)
    .max(20_000)
    .optional()
    .describe('The `next_cursor` of the previous page.'),
})

type QueryBody = z.output<typeof queryBody>

/** A valid sort key. */
export type SortKey = { reference: Reference; direction: 'asc' | 'desc' }

/** Whether a query includes restored rows, and the slices to read, once they are looked up. */
export type RestoredScope = { include_restored: boolean; slices?: readonly string[] }

/** A time range in nanoseconds since 1970: `from` inclusive, `to` exclusive. */
export type QueryWindow = { from: bigint; to: bigint }

/** A valid query: its names are looked up, its values read. */
export type Query = {
  entity: Entity
  window: QueryWindow
  where: Filter | undefined
  select: readonly Reference[]
  order_by: readonly SortKey[]
  limit: number
} & RestoredScope

/** Looks up the names in a body. Returns undefined, and adds faults, when one is not valid. */
function checkQuery(body: QueryBody, faults: Faults): Query | undefined {
  const entity = catalogue[body.entity]
  const context = filterContext(entity, faults)
  const window = checkWindow(body, faults)
  const query = {
    entity,
    where: body.where === undefined ? undefined : readFilter(body.where, ['where'], context),
    select: readSelect(entity, body.select, faults),
    order_by: readSortKeys(entity, body.order_by ?? [], faults),
    limit: body.limit,
    include_restored: checkRestored(entity, body, faults),
  }
  return window && faults.list.length === 0 ? { ...query, window } : undefined
}

/** Returns the context in which filters over an entity's fields are read. */
export function filterContext(entity: Entity, faults: Faults): FilterContext {
  return {
    faults,
    resolve: (name, path) => findField(entity, name, path, faults),
    size: { clauses: 0, values_bytes: 0 },
  }
}

const day_ns = 86_400_000_000_000n

/** Reads the window. Adds a fault when it is empty, reversed, or wider than allowed. */
export function checkWindow(
  { window, allow_wide }: Pick<QueryBody, 'window' | 'allow_wide'>,
  faults: Faults,
): QueryWindow | undefined {
  const [from, to] = [
    readInstant(window.from, 'from', faults),
    readInstant(window.to, 'to', faults),
  ]
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

/** Returns true when restored rows are included. Adds a fault for an entity never archived. */
export function checkRestored(
  entity: Entity,
  { include_restored }: Pick<QueryBody, 'include_restored'>,
  faults: Faults,
): boolean {
  const isArchived = Object.values(entity.stores).some(({ restored }) => restored !== undefined)
  if (include_restored && !isArchived) {
    faults.add(['include_restored'], `expected false: ${entity.name} are never archived`)
  }
  return include_restored
}

function readInstant(text: string, side: 'from' | 'to', faults: Faults): bigint | undefined {
  const ns = nsFromIso(text)
  const expected = 'an ISO 8601 instant from 1970 to 2261 with Z or an offset'
  return ns ?? faults.add(['window', side], unexpected(text, expected))
}

function readSelect(
  entity: Entity,
  names: readonly string[] | undefined,
  faults: Faults,
): Reference[] {
  if (names === undefined) {
    const small = Object.values(entity.fields).filter(
      ({ content, from_content }) => !content && !from_content,
    )
    return small.map((field) => ({ name: field.name, field }))
  }
  const references: Reference[] = []
  for (const [at, name] of names.entries()) {
    const path = ['select', at]
    if (names.indexOf(name) < at) faults.add(path, unexpected(name, 'each field once'))
    const whole = entity.maps.includes(name)
    const reference = whole ? wholeMap(name) : findField(entity, name, path, faults)
    if (reference) references.push(reference)
  }
  return references
}

/** Returns a whole map as a field: it can be selected, but not compared. */
function wholeMap(name: string): Reference {
  return { name, field: { name, type: 'json', description: '', content: true } }
}

function readSortKeys(
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
    const reference = findField(entity, field, path, faults)
    if (!reference) continue
    if (!isSortable(reference)) {
      faults.add(path, unexpected(field, 'a field that can be sorted by: no content, list or JSON'))
    }
    sortKeys.push({ reference, direction })
  }
  return sortKeys
}

/** Returns whether records can be sorted by a field. */
export function isSortable({ field, map_key }: Pick<Reference, 'field' | 'map_key'>): boolean {
  if (field.content && map_key === undefined) return false
  return field.type !== 'list' && field.type !== 'json'
}

/** A parsed query body. */
type AskedQuery = { query: Query; cursor: string | undefined }

/** Parses the body of a query: a valid query, or one issue for each fault. */
export const querySchema = queryBody.transform((body, context): AskedQuery => {
  const query = checkBody((faults) => checkQuery(body, faults), context)
  return query ? { query, cursor: body.cursor } : z.NEVER
})

export function checkBody<T>(
  check: (faults: Faults) => T | undefined,
  context: z.core.$RefinementCtx,
): T | undefined {
  const faults = collectFaults()
  const result = check(faults)
  for (const { path, message } of faults.list) {
    context.addIssue({ code: 'custom', path, message })
  }
  return faults.list.length === 0 ? result : undefined
}

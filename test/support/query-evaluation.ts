import { catalogue, type EntityName } from '../../src/capabilities/query/language/catalogue.ts'
import type { FieldType } from '../../src/capabilities/query/language/field.ts'
import { dollarsFrom, nanoDollarsFrom } from '../../src/kernel/dollars.ts'
import { traceIdFrom } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import { nsFromIso } from '../../src/model/list-query.ts'

/**
 * A record as answers show it: an unknown value is null, times are ISO 8601, money is text. A map
 * is an object of texts.
 */
export type PlainRecord = Readonly<Record<string, unknown>>
export type Order = readonly { field: string; direction: 'asc' | 'desc' }[]
export type Page = { where: object; order_by: Order; limit: number; select: readonly string[] }
export type Groups = {
  where: object
  group_by: readonly string[]
  measures: readonly { fn: string; field?: string; as: string }[]
  having?: object
  order_by: Order
  limit: number
}

type Known = string | number | bigint | boolean | readonly string[]
type Node = { and?: Node[]; or?: Node[]; not?: Node; field?: string; op?: string; value?: unknown }

/** Returns the rows of a page by evaluating every condition for every record in JavaScript. */
export function expectedPage(entity: EntityName, records: readonly PlainRecord[], page: Page) {
  const order = fullOrder(entity, page.order_by)
  return records
    .filter((record) => holds(entity, page.where as Node, record))
    .toSorted((a, b) => compareRecords(order, a, b, (name) => typeOf(entity, name)))
    .slice(0, page.limit)
    .map((record) => Object.fromEntries(page.select.map((name) => [name, fieldOf(record, name)])))
}

/** Returns the records that match a filter. */
function matching(entity: EntityName, records: readonly PlainRecord[], where: object) {
  return records.filter((record) => holds(entity, where as Node, record))
}

/** Returns the rows of an aggregate without buckets: counts, sums, bounds and distinct values. */
export function expectedGroups(
  entity: EntityName,
  records: readonly PlainRecord[],
  { where, group_by, measures, having, order_by, limit }: Groups,
) {
  const found = matching(entity, records, where)
  const keyOf = (record: PlainRecord) => JSON.stringify(group_by.map((f) => fieldOf(record, f)))
  const groups = [...Map.groupBy(found, keyOf).values()]
  if (group_by.length === 0 && groups.length === 0) groups.push([])
  const types = new Map<string, FieldType>([
    ...group_by.map((name) => [name, typeOf(entity, name)] as const),
    ...measures.map(({ fn, field = '', as }) => [as, measuredType(entity, fn, field)] as const),
  ])
  const type = (name: string) => types.get(name) ?? 'text'
  const rows = groups.map(
    (group): PlainRecord => ({
      ...Object.fromEntries(group_by.map((name) => [name, fieldOf(group[0] ?? {}, name)])),
      ...Object.fromEntries(measures.map((each) => [each.as, measured(entity, group, each)])),
    }),
  )
  const [first] = measures
  const given = order_by.length > 0 || !first ? order_by : [desc(first.as)]
  const order = [...given, ...group_by.map((field) => ({ field, direction: 'asc' as const }))]
  return rows
    .filter((row) => having === undefined || holdsOf(type, having as Node, row))
    .toSorted((a, b) => compareRecords(order, a, b, type))
    .slice(0, limit)
}

function desc(field: string) {
  return { field, direction: 'desc' as const }
}

function fullOrder(entity: EntityName, given: Order): Order {
  const { time, identity } = catalogue[entity]
  const order = given.length > 0 ? given : [desc(time)]
  const direction = order.at(-1)?.direction ?? 'desc'
  return [...order, ...identity.map((field) => ({ field, direction }))]
}

/** Compares two records; an unknown value comes last in either direction. */
function compareRecords(
  order: Order,
  a: PlainRecord,
  b: PlainRecord,
  type: (name: string) => FieldType,
): number {
  for (const { field, direction } of order) {
    const [left, right] = [a, b].map((record) => sortValue(type(field), fieldOf(record, field)))
    if (left === null && right === null) continue
    if (left == null) return 1
    if (right == null) return -1
    if (left === right) continue
    return (isSmaller(left, right) ? -1 : 1) * (direction === 'asc' ? 1 : -1)
  }
  return 0
}

/** ClickHouse compares the last eight bytes of a UUID first, and PostgreSQL follows it. */
function sortValue(type: FieldType, value: unknown): Known | null {
  if (value !== null && type === 'uuid') return `${String(value).slice(19)} ${value}`
  return comparable(type, value)
}

function comparable(type: FieldType, value: unknown): Known | null {
  if (value === null || value === undefined) return null
  if (type === 'decimal') return nanoDollarsFrom(String(value))
  if (type === 'time') return nsFromIso(String(value)) ?? 0n
  if (type === 'uuid') return traceIdFrom(String(value)) ?? ''
  return value as Known
}

function isSmaller(a: Known, b: Known): boolean {
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) < 0 : a < b
}

/** Compares text by its bytes. */
export function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** Returns a field, or a key of a map: `attributes.<key>`. Text that is empty is unknown. */
function fieldOf(record: PlainRecord, name: string): unknown {
  const [map = '', key = ''] = name.split('.', 2)
  const labels = record[map] as Record<string, string> | undefined
  const value = Object.hasOwn(record, name) ? record[name] : labels?.[key]
  return value === undefined || value === '' ? null : value
}

function typeOf(entity: EntityName, name: string): FieldType {
  return catalogue[entity].fields[name]?.type ?? 'text'
}

function holds(entity: EntityName, node: Node, record: PlainRecord): boolean {
  return holdsOf((name) => typeOf(entity, name), node, record)
}

/** Every test is true or false, so that `not` inverts it. */
function holdsOf(type: (name: string) => FieldType, node: Node, record: PlainRecord): boolean {
  if (node.and) return node.and.every((each) => holdsOf(type, each, record))
  if (node.or) return node.or.some((each) => holdsOf(type, each, record))
  if (node.not) return !holdsOf(type, node.not, record)
  const { field = '', op = '', value } = node
  const test = { type: type(field), actual: fieldOf(record, field), isKey: field.includes('.') }
  switch (op) {
    case 'ne':
      return !matches('eq', test, value)
    case 'in':
      return (value as unknown[]).some((each) => matches('eq', test, each))
    case 'not_in':
      return !(value as unknown[]).some((each) => matches('eq', test, each))
    case 'exists':
      return isKnown(test.actual) === value
    default:
      return matches(op, test, value)
  }
}

function isKnown(actual: unknown): boolean {
  return actual !== null && !(Array.isArray(actual) && actual.length === 0)
}

type Tested = { type: FieldType; actual: unknown; isKey: boolean }

function matches(op: string, { type, actual, isKey }: Tested, value: unknown): boolean {
  const known = isKey && typeof value === 'number' ? numberIn(actual) : comparable(type, actual)
  if (known === null) return false
  const wanted = comparable(type, value) ?? ''
  switch (op) {
    case 'eq':
      return known === wanted
    case 'gt':
      return isSmaller(wanted, known)
    case 'gte':
      return !isSmaller(known, wanted)
    case 'lt':
      return isSmaller(known, wanted)
    case 'lte':
      return !isSmaller(wanted, known)
    case 'contains':
      return (known as string).includes(String(wanted))
    case 'starts_with':
      return String(known).startsWith(String(wanted))
    default:
      throw new Error(`no operator ${op}`)
  }
}

function numberIn(actual: unknown): number | null {
  return /^-?\d{1,18}(\.\d{1,18})?$/.test(String(actual)) ? Number(actual) : null
}

function measuredType(entity: EntityName, fn: string, field: string): FieldType {
  return fn === 'count' || fn === 'count_distinct' ? 'integer' : typeOf(entity, field)
}

type Measured = { fn: string; field?: string }

function measured(entity: EntityName, group: readonly PlainRecord[], { fn, field = '' }: Measured) {
  if (fn === 'count') return group.length
  const known = group.map((record) => fieldOf(record, field)).filter((value) => value !== null)
  if (fn === 'count_distinct') return new Set(known).size
  const type = typeOf(entity, field)
  if (fn === 'sum' && type === 'decimal') {
    return dollarsFrom(known.reduce<bigint>((sum, each) => sum + nanoDollarsFrom(`${each}`), 0n))
  }
  if (fn === 'sum') return known.reduce<number>((sum, each) => sum + Number(each), 0)
  const sorted = known.toSorted((a, b) => {
    const [left, right] = [comparable(type, a) ?? '', comparable(type, b) ?? '']
    return isSmaller(left, right) ? -1 : 1
  })
  return (fn === 'min' ? sorted[0] : sorted.at(-1)) ?? null
}

const width_ns = 420_000_000_000n

/** Returns sums by model and buckets of 7 minutes; see `query-stores.test.ts`. */
export function expectedSums(records: readonly PlainRecord[], where: object) {
  const bucketOf = ({ start_time }: PlainRecord) => (nsFromIso(String(start_time)) ?? 0n) / width_ns
  const keyOf = (record: PlainRecord) =>
    `${String(bucketOf(record)).padStart(24, '0')} ${fieldOf(record, 'model') ?? '\u{10ffff}'}`
  return [...Map.groupBy(matching('observations', records, where), keyOf)]
    .toSorted(([a], [b]) => (isSmaller(a, b) ? -1 : 1))
    .map(([key, group]) => ({
      time_bucket: isoFromNs(BigInt(key.slice(0, 24)) * width_ns),
      ...sums(group),
    }))
}

function sums(group: readonly PlainRecord[]) {
  const of = (fn: string, field?: string) =>
    measured('observations', group, { fn, ...(field !== undefined && { field }) })
  const numbers = group.flatMap((record) => numberIn(fieldOf(record, 'attributes.n')) ?? [])
  return {
    model: fieldOf(group[0] ?? {}, 'model'),
    n: group.length,
    cost: of('sum', 'cost_usd'),
    tokens: of('sum', 'total_tokens'),
    errors: group.filter(({ status }) => status === 'error').length / group.length,
    traces: of('count_distinct', 'trace_id'),
    p90: percentile(group.map(({ duration_ms }) => Number(duration_ms))),
    largest: numbers.length > 0 ? Math.max(...numbers) : null,
  }
}

/** Interpolates between the two neighbours, like percentile_cont. */
function percentile(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = 0.9 * (sorted.length - 1)
  const [low = 0, high = 0] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]]
  return low + (high - low) * (rank - Math.floor(rank))
}

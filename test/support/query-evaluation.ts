import { dollarsFrom, nanoDollarsFrom } from '../../src/kernel/dollars.ts'
import { traceIdFrom } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import { nsFromIso } from '../../src/model/list-query.ts'
import type { Observation } from '../../src/model/observation.ts'

type Value = string | number | bigint | boolean | null
type Order = readonly { field: string; direction: 'asc' | 'desc' }[]
type Page = { where: object; order_by: Order; limit: number; select: readonly string[] }

/** What a page must hold: every condition asked of every record, in JavaScript. */
export function expectedPage(records: readonly Observation[], page: Page) {
  const order = fullOrder(page.order_by)
  return records
    .filter((record) => holds(page.where, record))
    .toSorted((a, b) => compared(a, b, order))
    .slice(0, page.limit)
    .map((record) =>
      Object.fromEntries(page.select.map((name) => [name, shown(name, fieldOf(record, name))])),
    )
}

function fullOrder(given: Order): Order {
  const order = given.length > 0 ? given : [{ field: 'start_time', direction: 'desc' as const }]
  const last = order.at(-1)?.direction ?? 'desc'
  const identity = ['start_time', 'trace_id', 'observation_id']
  return [...order, ...identity.map((field) => ({ field, direction: last }))]
}

function compared(a: Observation, b: Observation, order: Order): number {
  const seen = new Set<string>()
  for (const { field, direction } of order) {
    if (seen.has(field)) continue
    seen.add(field)
    const [left, right] = [sortValue(a, field), sortValue(b, field)]
    if (left === right) continue
    if (left === null) return 1
    if (right === null) return -1
    return (smaller(left, right) ? -1 : 1) * (direction === 'asc' ? 1 : -1)
  }
  return 0
}

function sortValue(record: Observation, field: string): Value {
  const value = fieldOf(record, field)
  if (field === 'trace_id') return `${String(value).slice(19)} ${value}`
  return field === 'cost_usd' && value !== null ? nanoDollarsFrom(String(value)) : value
}

/** Text by its bytes. */
function smaller(a: NonNullable<Value>, b: NonNullable<Value>): boolean {
  if (typeof a !== 'string' || typeof b !== 'string') return a < b
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
}

function fieldOf(record: Observation, name: string): Value {
  const { start_time, end_time, status } = record
  const buckets = [record.input_uncached_tokens, record.output_visible_tokens]
  switch (name) {
    case 'duration_ms':
      return Number(end_time - start_time) / 1_000_000
    case 'has_error':
      return status === 'error'
    case 'total_tokens':
      return buckets.every((tokens) => tokens === null)
        ? null
        : buckets.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0)
    case 'attributes.n':
      return record.attributes['n'] ?? ''
    default:
      return record[name as keyof Observation] as Value
  }
}

function shown(name: string, value: Value): Value {
  if (value === '') return null
  return name === 'cost_usd' && value !== null ? dollarsFrom(nanoDollarsFrom(String(value))) : value
}

type Node = { and?: Node[]; or?: Node[]; not?: Node; field?: string; op?: string; value?: unknown }

function holds(node: Node, record: Observation): boolean {
  if (node.and) return node.and.every((each) => holds(each, record))
  if (node.or) return node.or.some((each) => holds(each, record))
  if (node.not) return !holds(node.not, record)
  const { field = '', op = '', value } = node
  const actual = fieldOf(record, field)
  switch (op) {
    case 'ne':
      return !matches('eq', actual, wanted(field, value))
    case 'not_in':
      return !(value as unknown[]).some((each) => matches('eq', actual, wanted(field, each)))
    case 'in':
      return (value as unknown[]).some((each) => matches('eq', actual, wanted(field, each)))
    case 'exists':
      return (actual !== null && actual !== '') === value
    default:
      return compareAs(field, op, { actual, value })
  }
}

function compareAs(
  field: string,
  op: string,
  { actual, value }: { actual: Value; value: unknown },
) {
  if (field === 'attributes.n' && typeof value === 'number') {
    const text = String(actual)
    return matches(op, /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : null, value)
  }
  if (field === 'cost_usd' && actual !== null) {
    return matches(op, nanoDollarsFrom(String(actual)), nanoDollarsFrom(String(value)))
  }
  return matches(op, actual, wanted(field, value))
}

function wanted(field: string, value: unknown): NonNullable<Value> {
  if (field === 'trace_id') return traceIdFrom(String(value)) ?? ''
  if (field === 'start_time') return nsFromIso(String(value)) ?? 0n
  return value as NonNullable<Value>
}

function matches(op: string, actual: Value, value: NonNullable<Value>): boolean {
  if (actual === null) return false
  switch (op) {
    case 'eq':
      return (
        actual === value ||
        (typeof actual === 'string' && Number(actual) === Number(value) && actual === String(value))
      )
    case 'gt':
      return smaller(value, actual)
    case 'gte':
      return !smaller(actual, value)
    case 'lt':
      return smaller(actual, value)
    case 'lte':
      return !smaller(value, actual)
    case 'contains':
      return String(actual).includes(String(value))
    case 'starts_with':
      return String(actual).startsWith(String(value))
    default:
      throw new Error(`no operator ${op}`)
  }
}

const width_ns = 420_000_000_000n

/** The sums of `query-clickhouse.test.ts`, by model and buckets of 7 minutes. */
export function expectedSums(records: readonly Observation[], where: object) {
  const groups = new Map<string, Observation[]>()
  for (const record of records.filter((each) => holds(where, each))) {
    const bucket = (record.start_time / width_ns) * width_ns
    const key = `${String(bucket).padStart(24, '0')} ${record.model}`
    groups.set(key, [...(groups.get(key) ?? []), record])
  }
  return [...groups.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, group]) => ({ time_bucket: isoFromNs(BigInt(key.slice(0, 24))), ...sums(group) }))
}

function sums(group: readonly Observation[]) {
  const cost = group.reduce((sum, { cost_usd }) => sum + nanoDollarsFrom(cost_usd ?? '0'), 0n)
  const known = group.map((each) => fieldOf(each, 'total_tokens'))
  const numbers = group
    .map(({ attributes }) => attributes['n'] ?? '')
    .filter((text) => /^\d+$/.test(text))
    .map(Number)
  return {
    model: group[0]?.model || null,
    n: group.length,
    cost: dollarsFrom(cost),
    tokens: known.reduce<number>((sum, tokens) => sum + Number(tokens ?? 0), 0),
    errors: group.filter(({ status }) => status === 'error').length / group.length,
    traces: new Set(group.map(({ trace_id }) => trace_id)).size,
    p90: percentile(group.map((each) => Number(fieldOf(each, 'duration_ms')))),
    largest: numbers.length > 0 ? Math.max(...numbers) : null,
  }
}

/** Between the two neighbours, as percentile_cont does; the last binary digit may differ. */
function percentile(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = 0.9 * (sorted.length - 1)
  const [low = 0, high = 0] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return low + (high - low) * (place - Math.floor(place))
}

import type { FilterOperator, Measure, QueryEntity, SortOrder } from '../../api/schema.gen.d.ts'

/** One condition. An operator that is not known yet is refused by the API. */
export type Condition = { field: string; op: FilterOperator; value?: unknown }

/** A filter as the API reads it. */
export type Filter = Condition | { and: Filter[] } | { or: Filter[] } | { not: Filter }

export type SortKey = { field: string; direction?: SortOrder }

/** A field, or buckets of time. Buckets of days and weeks may be those of a time zone. */
export type GroupBy = string | { time_bucket: string; time_zone?: string }

/** The body of a query or, with `measures`, of an aggregate, without its window. */
export type Body = {
  entity: QueryEntity
  allow_wide?: boolean
  include_restored?: boolean
  where?: Filter
  select?: string[]
  measures?: Measure[]
  group_by?: GroupBy[]
  having?: Filter
  order_by?: SortKey[]
  fill?: boolean
  top_n?: { n: number; by: string; other?: boolean }
  limit?: number
}

/** The part of the time that a query reads. `last` ends at the time of the run. */
export type Window = { last: string } | { from: string; to: string }

/** All entities. The type makes a new one of the API an error here. */
const known: Record<QueryEntity, true> = {
  observations: true,
  traces: true,
  events: true,
  links: true,
  correlations: true,
  tasks: true,
  findings: true,
}

export const entities = Object.keys(known) as QueryEntity[]

/** The query of a text, or the fault of a text without one. */
export type ReadBody =
  | { body: Body; window: Window | undefined }
  | { fault: string; body?: undefined }

/** Reads a query from JSON, with or without its window. Names and values are checked by the API. */
export function readBody(text: string): ReadBody {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
  if (!isObject(value)) return { fault: 'Expected an object: {"entity": "observations", …}' }
  for (const name of Object.keys(value)) {
    const isRight = Object.hasOwn(shapes, name) ? shapes[name as keyof typeof shapes] : undefined
    if (isRight === undefined) return { fault: `${name}: a query has no such field` }
    if (!isRight(value[name])) return { fault: `${name}: ${expectations[name as keyof Shapes]}` }
  }
  const { window, ...body } = value as Body & { window?: Window }
  if (body.entity === undefined) return { fault: `entity: ${expectations.entity}` }
  return { body, window }
}

/** Writes a query as compact JSON, for a URL. */
export function compactBody(body: Body): string {
  return JSON.stringify(body)
}

/** Writes a query with its window for people. */
export function formatBody(body: Body, window: Window): string {
  const { entity, ...rest } = body
  return formatJson({ entity, window, ...rest }, '')
}

const line_max = 88

/** Writes JSON with short objects and lists on one line, so that a query fits on a screen. */
function formatJson(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const isList = Array.isArray(value)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  const write = (inner: string) =>
    Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .map(
        ([name, each]) => `${isList ? '' : `${JSON.stringify(name)}: `}${formatJson(each, inner)}`,
      )
  const parts = write(`${indent}  `)
  if (parts.length === 0) return `${open}${close}`
  const space = isList ? '' : ' '
  const line = `${open}${space}${parts.join(', ')}${space}${close}`
  if (indent !== '' && line.length + indent.length <= line_max && !line.includes('\n')) return line
  return `${open}\n${parts.map((part) => `${indent}  ${part}`).join(',\n')}\n${indent}${close}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isText = (value: unknown) => typeof value === 'string'
const isFlag = (value: unknown) => typeof value === 'boolean'
const isList = (isRight: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isRight)

function isFilter(value: unknown): value is Filter {
  if (!isObject(value)) return false
  if ('field' in value) return isText(value['field']) && isText(value['op'])
  const [name, ...others] = Object.keys(value)
  if (others.length > 0 || name === undefined) return false
  if (name === 'not') return isFilter(value['not'])
  const parts = value[name]
  if (name !== 'and' && name !== 'or') return false
  return Array.isArray(parts) && parts.length > 0 && parts.every(isFilter)
}

function isWindow(value: unknown): value is Window {
  if (!isObject(value)) return false
  const names = Object.keys(value).sort().join()
  if (!Object.values(value).every(isText)) return false
  return names === 'last' ? toRange(value as Window) !== undefined : names === 'from,to'
}

const isBucket = ({ time_bucket, time_zone }: Record<string, unknown>) =>
  isText(time_bucket) && (time_zone === undefined || isText(time_zone))

type Shapes = typeof shapes

const shapes = {
  entity: (value: unknown) => entities.some((each) => each === value),
  window: isWindow,
  allow_wide: isFlag,
  include_restored: isFlag,
  where: isFilter,
  select: isList(isText),
  measures: isList((each) => isObject(each) && isText(each['fn']) && isText(each['as'])),
  group_by: isList((each) => isText(each) || (isObject(each) && isBucket(each))),
  having: isFilter,
  order_by: isList((each) => isObject(each) && isText(each['field'])),
  fill: isFlag,
  top_n: (value: unknown) =>
    isObject(value) && typeof value['n'] === 'number' && isText(value['by']),
  limit: (value: unknown) => typeof value === 'number',
}

const filterShape = 'expected {field, op, value}, {and: […]}, {or: […]} or {not: …}'

const expectations: Record<keyof typeof shapes, string> = {
  entity: `expected one of ${entities.join(', ')}`,
  window: 'expected {"from": …, "to": …} or {"last": "24h"}',
  allow_wide: 'expected true or false',
  include_restored: 'expected true or false',
  where: filterShape,
  select: 'expected a list of names',
  measures: 'expected a list of {fn, field, as}',
  group_by: 'expected a list of names and {"time_bucket": "1h"}',
  having: filterShape,
  order_by: 'expected a list of {field, direction}',
  fill: 'expected true or false',
  top_n: 'expected {n, by, other}',
  limit: 'expected a whole number',
}

/** Returns the range of a URL that shows a window; undefined for a length that it cannot show. */
export function toRange(window: Window): { from: string; to: string | undefined } | undefined {
  if (!('last' in window)) return window
  const [, count, unit] = /^([1-9]\d{0,4})([mhdw])$/.exec(window.last) ?? []
  if (count === undefined) return undefined
  const from = unit === 'w' ? `-${Number(count) * 7}d` : `-${count}${unit}`
  return { from, to: undefined }
}

/** Returns the window of the range of a URL, in which relative times stay so. */
export function toWindow(
  search: { from?: string | undefined; to?: string | undefined },
  resolved: { from: string; to: string },
): Window {
  const [, last] = /^-(\d{1,5}[mhd])$/.exec(search.from ?? '') ?? []
  return last !== undefined && search.to === undefined ? { last } : resolved
}

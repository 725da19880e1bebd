import { createHash } from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import { compileAggregate } from '../compile/compile-aggregate.ts'
import { compileQuery } from '../compile/compile-query.ts'
import { conjunctsOf } from '../compile/conditions.ts'
import type { Dialect } from '../compile/dialect.ts'
import { fullOrder, type Position } from '../compile/pages.ts'
import type { Statement } from '../compile/statement.ts'
import { type Aggregate, aggregateSchema, type Group } from '../language/aggregate-query.ts'
import type { EntityName } from '../language/catalogue.ts'
import type { FieldType, Reference } from '../language/field.ts'
import type { Filter, Test } from '../language/filter.ts'
import { type Query, type QueryWindow, querySchema } from '../language/page-query.ts'
import type { Scalar } from '../language/values.ts'
import type {
  QueryClass,
  QueryLimits,
  QueryRunner,
  QueryStats,
  RoutingRequest,
  Served,
} from './contract.ts'
import { dialects, type JsonValue, type PreparedRun, toJsonRow } from './run-query.ts'

type Caller = { project_id: string; signal: AbortSignal }

/** Prepares a query for its run. `after` reads the page's position, by the statement's keys. */
export function prepareQuery(
  query: Query,
  { project_id, signal }: Caller,
  after: (statement: Statement) => Position | undefined,
): PreparedRun {
  return {
    ...toRoutingRequest(query, { project_id, query_class: classifyQuery(query) }),
    signal,
    limit: query.limit,
    query: identify('query', project_id, normalQuery({ ...query, order_by: fullOrder(query) })),
    compile: (dialect, how = {}) => compilePage(query, { project_id, dialect, ...how }, after),
  }
}

function compilePage(
  query: Query,
  about: { project_id: string; dialect: Dialect; to_plan?: boolean },
  after: (statement: Statement) => Position | undefined,
): Statement {
  const first = compileQuery(query, about)
  const position = after(first)
  return position === undefined ? first : compileQuery(query, { ...about, after: position })
}

/** Prepares an aggregate for its run. */
export function prepareAggregate(
  aggregate: Aggregate,
  { project_id, signal }: Caller,
): PreparedRun {
  return {
    ...toRoutingRequest(aggregate, { project_id, query_class: 'aggregate' }),
    signal,
    limit: aggregate.limit,
    query: identify('aggregate', project_id, normalAggregate(aggregate)),
    compile: (dialect) => compileAggregate(aggregate, { project_id, dialect }),
  }
}

function toRoutingRequest(
  { entity, window, slices = [] }: Pick<Query, 'entity' | 'window' | 'slices'>,
  about: Pick<RoutingRequest, 'project_id' | 'query_class'>,
): RoutingRequest {
  const restored = slices.length > 0
  return { ...about, entity: entity.name as EntityName, window, restored }
}

function identify(kind: 'query' | 'aggregate', project_id: string, body: object) {
  return { kind, hash: hashQuery(project_id, body), body }
}

/** Classifies a query: `point` if a condition that must hold tests an id for equality. */
function classifyQuery({ where }: Pick<Query, 'where'>): QueryClass {
  const isPoint = conjunctsOf(where).some(
    (filter) =>
      filter.kind === 'test' && filter.op === 'eq' && pointFields.has(filter.reference.name),
  )
  return isPoint ? 'point' : 'list'
}

const pointFields: ReadonlySet<string> = new Set([
  'trace_id',
  'observation_id',
  'task_id',
  'event_id',
  'link_id',
  'correlation_value',
])

/** Hashes a query in normal form and its project, without the limit, for logs and cursors. */
function hashQuery(project_id: string, form: object): string {
  const { limit: _limit, ...rest } = form as { limit?: unknown }
  const text = JSON.stringify([project_id, rest])
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/** Returns the normal form of a query, in JSON. Parsing it again gives the same query. */
export function normalQuery(query: Query) {
  const { entity, window, where, select, order_by, limit, include_restored } = query
  return {
    entity: entity.name,
    window: formatWindow(window),
    ...(where && { where: formatFilter(where) }),
    select: select.map(({ name }) => name),
    order_by: order_by.map(({ reference, direction }) => ({ field: reference.name, direction })),
    limit,
    ...(include_restored && { include_restored }),
  }
}

/** Returns the normal form of an aggregate; see `normalQuery`. */
export function normalAggregate(aggregate: Aggregate) {
  const { entity, window, where, groups, measures, having, order_by } = aggregate
  const { limit, fill, top_n, include_restored } = aggregate
  return {
    entity: entity.name,
    window: formatWindow(window),
    ...(where && { where: formatFilter(where) }),
    group_by: groups.map(formatGroup),
    measures: measures.map(({ fn, name, reference }) => ({
      fn,
      ...(reference && { field: formatField(reference) }),
      as: name,
    })),
    ...(having && { having: formatFilter(having) }),
    order_by: order_by.map(({ name, direction }) => ({ field: name, direction })),
    limit,
    fill,
    ...(top_n && { top_n }),
    ...(include_restored && { include_restored }),
  }
}

function formatWindow({ from, to }: QueryWindow) {
  return { from: isoFromNs(from), to: isoFromNs(to) }
}

/** Returns the name of a measured field. A map's key measured as a number has a name of its own. */
function formatField({ name, field, map_key }: Reference): string {
  return map_key === undefined ? name : `${field.name}.${map_key}`
}

type FilterForm =
  | { field: string; op: string; value: unknown }
  | { and: FilterForm[] }
  | { or: FilterForm[] }
  | { not: FilterForm }

const opposites = { eq: 'ne', in: 'not_in' } as const

function formatFilter(filter: Filter): FilterForm {
  switch (filter.kind) {
    case 'and':
      return { and: filter.parts.map(formatFilter) }
    case 'or':
      return { or: filter.parts.map(formatFilter) }
    case 'test':
      return formatTest(filter, filter.op)
    case 'not': {
      const { part } = filter
      if (part.kind === 'test' && (part.op === 'eq' || part.op === 'in')) {
        return formatTest(part, opposites[part.op])
      }
      return { not: formatFilter(part) }
    }
  }
}

function formatTest({ reference, op: tested, value }: Test, op: string): FilterForm {
  const { type } = reference.field
  const formatted =
    typeof value === 'object'
      ? value.map((each) => formatScalar(each, type))
      : formatScalar(value, tested === 'exists' ? 'bool' : type)
  return { field: reference.name, op, value: formatted }
}

function formatScalar(value: Scalar, type: FieldType): string | number | boolean {
  if (type === 'time') return isoFromNs(BigInt(value))
  return typeof value === 'bigint' ? String(value) : value
}

const units = [
  ['d', 86_400_000_000_000n],
  ['h', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
  ['s', 1_000_000_000n],
] as const

function formatGroup(group: Group) {
  if (group.kind === 'field') return group.name
  const zone = group.zone === undefined ? {} : { time_zone: group.zone.name }
  return { time_bucket: formatWidth(group), ...zone }
}

function formatWidth({ width_ns, offset_ns }: Extract<Group, { kind: 'bucket' }>): string {
  if (offset_ns !== 0n) return `${width_ns / (7n * units[0][1])}w`
  const [unit, size] = units.find(([, each]) => width_ns % each === 0n) ?? units[3]
  return `${width_ns / size}${unit}`
}

/** A recorded query that can be run again on any store. */
export type Replay = RoutingRequest & {
  /** Runs the query on a store, regardless of the project's routing. Rejects like the runner. */
  runOn(
    runner: QueryRunner,
    options: { signal: AbortSignal; limits: QueryLimits },
  ): Promise<{ rows: Record<string, JsonValue>[]; stats: QueryStats }>
}

/** Reads a recorded query. Returns undefined if it is no longer valid: its fields changed. */
export function readReplay(
  { kind, body }: Pick<Served['query'], 'kind' | 'body'>,
  project_id: string,
): Replay | undefined {
  const prepared = prepareAgain(kind, body, project_id)
  if (prepared === undefined) return undefined
  const { query_class, entity, window } = prepared
  return {
    project_id,
    query_class,
    entity,
    window,
    runOn: async (runner, { signal, limits }) => {
      const statement = prepared.compile(dialects[runner.store])
      const result = await runner.run(statement, { project_id, signal, limits, query_id: newId() })
      return {
        rows: result.rows.map((row) => toJsonRow(row, statement.columns)),
        stats: result.stats,
      }
    },
  }
}

/** Never aborts: `runOn` passes a signal of its own. */
const neverAborts = new AbortController().signal

function prepareAgain(
  kind: Served['query']['kind'],
  body: object,
  project_id: string,
): PreparedRun | undefined {
  const caller = { project_id, signal: neverAborts }
  if (kind === 'aggregate') {
    const { data } = aggregateSchema.safeParse(body)
    return data && prepareAggregate(data, caller)
  }
  const { data } = querySchema.safeParse(body)
  return data && prepareQuery(data.query, caller, () => undefined)
}

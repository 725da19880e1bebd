import { type Reference, referenceTo } from '../language/field.ts'
import type { Query } from '../language/page-query.ts'
import {
  compileAll,
  exactWindow,
  type Frame,
  narrowingOf,
  referencesOf,
  type Scope,
  sourceOf,
  splitFilter,
} from './conditions.ts'
import type { Dialect } from './dialect.ts'
import {
  afterPosition,
  fullOrder,
  narrowWindow,
  type Position,
  pageBound,
  sortExpressions,
} from './pages.ts'
import { type RowsRequest, recordsOf } from './rows.ts'
import type { Column, Statement } from './statement.ts'

/**
 * Compiles a query to one statement of the dialect's store. It reads one row more than the limit,
 * so that the caller knows whether there is another page. Pure: the same query is the same text.
 * `to_plan` leaves out the subqueries that a store would run before it can plan.
 */
export function compileQuery(
  query: Query,
  about: { project_id: string; dialect: Dialect; after?: Position | undefined; to_plan?: boolean },
): Statement {
  const { project_id, after } = about
  const dialect = about.dialect.forSource(sourceOf(query.entity, about.dialect))
  const params = dialect.params()
  const order = fullOrder(query)
  const { tick_ns } = dialect
  const window = after ? narrowWindow(query, order, { after, tick_ns }) : query.window
  const { entity, slices = [] } = query
  const frame: Frame = { dialect, params, project_id, entity, window, slices }
  const { inside, late } = splitFilter(query)
  const plan: Plan = {
    frame,
    query,
    order,
    late: [...exactWindow(frame, query.window), ...late],
    after,
    request: {
      references: [],
      inside,
      narrowing: narrowingOf(frame, late),
      direction: order[0]?.direction ?? 'desc',
    },
  }
  const contentLast = readsContentLast(plan)
  const narrowed = contentLast || plan.request.narrowing.length > 0
  const page = about.to_plan ? plan : withPageBound(plan)
  const text = contentLast ? pageThenContent(plan) : pageText(page, query.select)
  const isOneTable = !entity.computed && slices.length === 0
  const stops_early = !narrowed && isOneTable && inTableOrder(plan)
  return { ...text, params: params.values, narrowed, stops_early }
}

type Plan = {
  frame: Frame
  query: Query
  order: ReturnType<typeof fullOrder>
  late: ReturnType<typeof splitFilter>['late']
  after: Position | undefined
  request: RowsRequest
}

type Text = Omit<Statement, 'params'>

/**
 * Returns true when large fields should be read in a second look-up, of the page's records alone:
 * otherwise they would be read for rows that are filtered out or sorted away afterwards.
 */
function readsContentLast({ frame, query, order, late }: Plan): boolean {
  const { entity, dialect, slices = [] } = frame
  if (entity.computed || !entity.stores[dialect.store]?.versioned) return false
  // With restored rows, the statement holds each condition twice already.
  if (slices.length > 0) return false
  const compared = [...late.flatMap(referencesOf), ...order.map(({ reference }) => reference)]
  const named = new Set(compared.map(({ name }) => name))
  if (late.length === 0 && inTableOrder({ query, order })) return false
  return query.select.some(({ name, field }) => field.content && !named.has(name))
}

function withPageBound(plan: Plan): Plan {
  const { request } = plan
  const narrowing = [...request.narrowing, ...pageBound(plan, request)]
  return { ...plan, request: { ...request, narrowing } }
}

function inTableOrder({ query, order }: Pick<Plan, 'query' | 'order'>): boolean {
  return query.entity.identity.every((name, at) => order[at]?.reference.name === name)
}

/** Finds the page by its small fields, then reads the large fields of the page's records. */
function pageThenContent(plan: Plan): Text {
  const { frame, request } = plan
  const identity = frame.entity.identity.join(', ')
  const references = frame.entity.identity.map((name) => referenceTo(frame.entity, name))
  const { rows, tail } = pageOf(plan, references)
  const found = `SELECT ${identity}\nFROM (\n  ${rows}\n) AS page${tail}`
  const narrowing = [...request.narrowing, `(${identity}) ${frame.dialect.in_subquery} (${found})`]
  return pageText(
    { ...plan, late: [], after: undefined, request: { ...request, narrowing } },
    plan.query.select,
  )
}

function pageText(plan: Plan, select: readonly Reference[]): Text {
  const { rows, tail, scope, keys } = pageOf(plan, select)
  const columns = select.map(
    ({ name, field }, at): Column => ({ alias: `c${at}`, name, type: field.type }),
  )
  const list = [...selectList(select, scope), ...keys.map(({ read }, at) => `${read} AS k${at}`)]
  return {
    text: `SELECT ${list.join(',\n  ')}\nFROM (\n  ${rows}\n) AS page${tail}`,
    columns,
    keys: keys.map(({ kind }, at) => ({ alias: `k${at}`, kind })),
  }
}

function selectList(select: readonly Reference[], scope: Scope): string[] {
  return select.map((reference, at) => {
    return `${scope.dialect.output(scope.expression(reference))} AS c${at}`
  })
}

/** Returns the subquery of the page's rows, and its tail: conditions, order and limit. */
function pageOf(plan: Plan, select: readonly Reference[]) {
  const { frame, order, late, after, request, query } = plan
  const sorted = order.map(({ reference }) => reference)
  const references = [...select, ...sorted, ...late.flatMap(referencesOf)]
  const { text: rows, scope } = recordsOf(frame, { ...request, references })
  const keys = sortExpressions(order, frame.entity, scope)
  const where = [...compileAll(late, scope), ...(after ? [afterPosition(keys, after, scope)] : [])]
  const condition = where.length > 0 ? `\nWHERE ${where.join('\n  AND ')}` : ''
  const by = keys.map(({ sql, direction }) => `${sql} ${direction.toUpperCase()}`).join(', ')
  const limit = frame.dialect.integer(frame.params, query.limit + 1)
  return { rows, scope, keys, tail: `${condition}\nORDER BY ${by}\nLIMIT ${limit}` }
}

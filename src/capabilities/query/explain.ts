import { z } from 'zod'
import { documentedAs, record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { conjunctsOf, referencesOf } from './compile/conditions.ts'
import { readCursor } from './compile/pages.ts'
import type { Param, Statement } from './compile/statement.ts'
import { type Aggregate, aggregateBody, aggregateSchema } from './language/aggregate-query.ts'
import type { Filter, Test } from './language/filter.ts'
import { type Query, queryBody, querySchema } from './language/page-query.ts'
import type { QueryLimits, StorePlan } from './run/contract.ts'
import type { RunDeps } from './run/open-queries.ts'
import { prepareAggregate, prepareQuery } from './run/prepare-run.ts'
import {
  addRestoredSlices,
  chooseStores,
  dialects,
  type PreparedRun,
  withSlot,
} from './run/run-query.ts'

/** POST /api/v2/observability/query/explain: returns the plan and estimated cost of a query. */
export function explainRoute(deps: RunDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/query/explain',
    id: 'explainQuery',
    summary: 'Explain a query without running it',
    audit: 'refusals',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    body: explainBody,
    reply: explainReply,
    errors: ['invalid_cursor', 'rate_limited', 'store_unavailable'],
    handle: ({ body, caller: { project_id }, signal }) =>
      explainQuery(deps, { ...body, project_id, signal }),
  })
}

const explainBody = documentedAs(
  z.record(z.string(), z.unknown()),
  z
    .union([queryBody, aggregateBody])
    .meta({ id: 'ExplainRequest', description: 'Body of a query or an aggregate.' }),
).transform((body, context): ExplainRequest => {
  const isAggregate = Object.hasOwn(body, 'measures')
  const parsed = isAggregate
    ? aggregateSchema.transform((aggregate): ExplainRequest => ({ aggregate })).safeParse(body)
    : querySchema.safeParse(body)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) {
    const { path, message } = issue
    const faults =
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({ path: [...path, key], message: 'unknown field' }))
        : [{ path, message }]
    for (const fault of faults) context.addIssue({ code: 'custom', ...fault })
  }
  return z.NEVER
})

const selected = record('SelectedOfTotal', { selected: z.int(), total: z.int() })

const store = z.enum(['clickhouse', 'postgres']).meta({ id: 'StoreName' })

const explainReply = z
  .strictObject({
    kind: z.enum(['query', 'aggregate']).meta({ id: 'QueryKind' }),
    query_class: z.enum(['point', 'list', 'aggregate', 'explorer']).meta({ id: 'QueryClass' }),
    query: z.record(z.string(), z.unknown()).describe('The query in normal form.'),
    store: record('ExplainedStore', {
      chosen: store,
      fallback: z
        .boolean()
        .describe('Whether the next eligible store answers when the chosen one is unavailable.'),
      candidates: z.array(
        record('StoreCandidate', { store, eligible: z.boolean(), reason: z.string() }),
      ),
    }),
    statement: record('ExplainedStatement', {
      text: z.string(),
      params: z.array(record('StatementParameter', { name: z.string(), value: z.unknown() })),
    }),
    plan: z.array(z.string()).describe('Plan as the store prints it, line by line.'),
    estimate: record('QueryEstimate', {
      rows: z.int().nullable().describe('Rows to read; null if unknown.'),
      bytes: z.int().nullable().describe('Bytes to read, uncompressed; null if unknown.'),
      bytes_from: z
        .enum(['columns', 'parts'])
        .nullable()
        .meta({ id: 'BytesEstimateSource' })
        .describe(
          '`columns`: the store counts the bytes of each column. `parts`: it counts those of all columns together, so `bytes` is shared out and rough; null if `bytes` is.',
        ),
      rows_at_most: z.int().nullable().describe('Upper bound of rows to read; null if unknown.'),
      parts: selected.nullable().describe('Table parts to read, out of all.'),
      granules: selected
        .nullable()
        .describe('Blocks of rows to read, out of all; an index can skip each one.'),
      skipped_share: z.number().nullable().describe('Share of granules that indexes skip, 0 to 1.'),
      reason: z.string().nullable().describe('Why a part of the estimate is unknown.'),
    }),
    limits: z.record(z.string(), z.number()).describe('Limits of the query, keyed by setting.'),
    warnings: z.array(record('QueryWarning', { code: z.string(), detail: z.string() })),
  })
  .meta({ id: 'QueryExplanation' })

/** A query with its cursor, or an aggregate. */
type ExplainRequest = { query: Query; cursor: string | undefined } | { aggregate: Aggregate }

type Caller = { project_id: string; signal: AbortSignal }

/** Explains a query without running it. Throws `store_unavailable`, `invalid_cursor`. */
async function explainQuery(deps: RunDeps, given: ExplainRequest & Caller) {
  const run = await prepare(deps, given)
  const choice = await chooseStores(deps, run)
  const [chosen = 'clickhouse'] = choice.order
  const statement = run.compile(dialects[chosen])
  const planned = run.compile(dialects[chosen], { to_plan: true })
  const plan = await withSlot(deps, run, () => deps.runners[chosen].plan(planned, run))
  return {
    kind: run.query.kind,
    query_class: run.query_class,
    query: run.query.body as Record<string, unknown>,
    store: {
      chosen,
      fallback: choice.fallback,
      candidates: choice.candidates.map((each) => ({ ...each })),
    },
    statement: toAnswerStatement(statement, dialects[chosen].param_name),
    plan: [...plan.lines],
    estimate: toAnswerEstimate(plan),
    limits: toAnswerLimits(deps.limits),
    warnings: findWarnings('aggregate' in given ? given.aggregate : given.query, {
      plan,
      statement,
      limits: deps.limits,
    }),
  }
}

async function prepare(deps: RunDeps, given: ExplainRequest & Caller): Promise<PreparedRun> {
  const { project_id } = given
  if ('aggregate' in given) {
    return prepareAggregate(await addRestoredSlices(deps, given.aggregate, project_id), given)
  }
  const { cursor } = given
  const query = await addRestoredSlices(deps, given.query, project_id)
  const run: PreparedRun = prepareQuery(query, given, ({ keys }) =>
    cursor === undefined ? undefined : readCursor(`${run.entity} ${run.query.hash}`, cursor, keys),
  )
  return run
}

function toAnswerStatement({ text, params }: Statement, nameOf: (at: number) => string) {
  return {
    text,
    params: params.map((value, at) => ({ name: nameOf(at), value: toAnswerParam(value) })),
  }
}

function toAnswerParam(value: Param): unknown {
  if (typeof value === 'object') return value.map(toAnswerParam)
  return typeof value === 'bigint' ? String(value) : value
}

function toAnswerEstimate({ estimate, parts, granules, skipped_share }: StorePlan) {
  return { ...estimate, parts, granules, skipped_share }
}

function toAnswerLimits(limits: QueryLimits): Record<string, number> {
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => [`query_${name}`, value]))
}

type Warning = { code: string; detail: string }

const day_ns = 86_400_000_000_000n

const wide_days = 31n

/** Finds properties of a query that make it slow, or over a limit. */
function findWarnings(
  query: Query | Aggregate,
  { plan, statement, limits }: { plan: StorePlan; statement: Statement; limits: QueryLimits },
): Warning[] {
  const tests = testsOf(query.where)
  return [
    ...wideWindow(query),
    ...filterWarnings(query, tests),
    ...('select' in query ? pageWarnings(query, statement) : []),
    ...overLimits(query, plan, limits),
  ]
}

function testsOf(where: Filter | undefined): Test[] {
  if (where === undefined) return []
  if (where.kind === 'test') return [where]
  return where.kind === 'not' ? testsOf(where.part) : where.parts.flatMap(testsOf)
}

function wideWindow({ window }: Query | Aggregate): Warning[] {
  const days = (window.to - window.from) / day_ns
  if (days <= wide_days) return []
  return [{ code: 'wide_window', detail: `the window is ${days} days, and all of it is read` }]
}

function filterWarnings({ entity, where }: Query | Aggregate, tests: readonly Test[]): Warning[] {
  const warnings: Warning[] = []
  const add = (code: string, names: readonly string[], detail: string) => {
    if (names.length > 0)
      warnings.push({ code, detail: `${[...new Set(names)].join(', ')}: ${detail}` })
  }
  const conjuncts = conjunctsOf(where)
  const indexed = conjuncts.some((filter) =>
    referencesOf(filter).some(({ name, field }) => {
      const isKey = entity.identity.includes(name) && name !== entity.time
      return filter.kind === 'test' && (isKey || field.indexed === true)
    }),
  )
  if (conjuncts.length > 0 && !indexed) {
    add(
      'no_index',
      conjuncts.flatMap(referencesOf).map(({ name }) => name),
      'no index covers these fields',
    )
  }
  add('empty_text', fieldNames(tests.filter(isWithEmptyText)), emptyText)
  const contents = tests.filter(({ reference }) => reference.field.content)
  const searched = contents.filter(({ op }) => op === 'contains' || op === 'starts_with')
  add('contains_on_content', fieldNames(searched), 'reads the whole text of each record')
  const keys = tests.filter(({ reference }) => reference.map_key !== undefined)
  add('map_keys', fieldNames(keys), 'reads the whole map of each record')
  return warnings
}

const emptyText = 'no value is the empty text; find unknown values with exists'

function isWithEmptyText({ reference, op, value }: Test): boolean {
  if (reference.field.type !== 'text') return false
  if (op === 'in') return Array.isArray(value) && value.includes('')
  return value === '' && (op === 'eq' || op === 'lt' || op === 'lte')
}

function fieldNames(tests: readonly Test[]): string[] {
  return tests.map(({ reference }) => reference.name)
}

function pageWarnings({ select, order_by }: Query, statement: Statement): Warning[] {
  const contents = select.filter(({ field }) => field.content).map(({ name }) => name)
  return [
    ...(contents.length > 0
      ? [{ code: 'content_columns', detail: `${contents.join(', ')}: reads large columns` }]
      : []),
    ...(order_by.length > 0 && !statement.stops_early
      ? [{ code: 'sorted', detail: 'reads all records of the window to find the first ones' }]
      : []),
  ]
}

function overLimits(
  { limit }: Query | Aggregate,
  { estimate }: StorePlan,
  limits: QueryLimits,
): Warning[] {
  const over = (given: number | null, most: number) => given !== null && given > most
  const codes = [
    ...(over(estimate.rows, limits.rows_read_max) ? ['query_rows_read_max'] : []),
    ...(over(estimate.bytes, limits.bytes_read_max) ? ['query_bytes_read_max'] : []),
    ...(over(limit, limits.result_rows_max) ? ['query_result_rows_max'] : []),
  ]
  return codes.map((name) => ({
    code: 'over_limit',
    detail: `the query would be refused: it exceeds ${name}`,
  }))
}

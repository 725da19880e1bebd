import { z } from 'zod'
import { documentedAs, record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { readCursor } from './compile/pages.ts'
import type { Param, Statement } from './compile/statement.ts'
import { type Aggregate, aggregateBody, aggregateSchema } from './language/aggregate-query.ts'
import { type Query, queryBody, querySchema } from './language/page-query.ts'
import type { QueryLimits, StorePlan } from './run/contract.ts'
import type { RunDeps } from './run/open-queries.ts'
import { prepareAggregate, prepareQuery } from './run/prepare-run.ts'
import { findWarnings } from './run/query-warnings.ts'
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
      ...{ chosen, fallback: choice.fallback },
      candidates: choice.candidates.map((each) => ({ ...each })),
    },
    statement: toAnswerStatement(statement, dialects[chosen].param_name),
    plan: [...plan.lines],
    estimate: toAnswerEstimate(plan),
    limits: toAnswerLimits(deps.limits),
    warnings: findWarnings('aggregate' in given ? given.aggregate : given.query, {
      ...{ plan, statement, limits: deps.limits },
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

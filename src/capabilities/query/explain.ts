import { z } from 'zod'
import { documentedAs, record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { aggregateBody, queryBody } from './language/query-body.ts'
import { aggregateSchema, querySchema } from './language/schemas.ts'
import { type Explained, explainQuery } from './run/explain-query.ts'
import type { RunDeps } from './run/run-query.ts'

/** POST /api/v2/observability/query/explain: what a query would do, and what it would take. */
export function explainRoute(deps: RunDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/query/explain',
    id: 'explainQuery',
    summary: 'What a query would do and take; runs nothing',
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
    .meta({ id: 'ExplainRequest', description: 'The body of a query, or of an aggregate.' }),
).transform((body, context): Explained => {
  const isAggregate = Object.hasOwn(body, 'measures')
  const parsed = isAggregate
    ? aggregateSchema.transform((aggregate): Explained => ({ aggregate })).safeParse(body)
    : querySchema.safeParse(body)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) {
    const { path, message } = issue
    const faults =
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({ path: [...path, key], message: 'it is not a field here' }))
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
    query: z.record(z.string(), z.unknown()).describe('As it was understood.'),
    store: record('ExplainedStore', {
      chosen: store,
      fallback: z.boolean().describe('The next one is asked when the chosen one is out of reach.'),
      candidates: z.array(
        record('StoreCandidate', { store, eligible: z.boolean(), reason: z.string() }),
      ),
    }),
    statement: record('ExplainedStatement', {
      text: z.string(),
      params: z.array(record('StatementParameter', { name: z.string(), value: z.unknown() })),
    }),
    plan: z.array(z.string()).describe("The store's own words."),
    estimate: record('QueryEstimate', {
      rows: z.int().nullable().describe('Rows to be read; null when it can not be known.'),
      bytes: z.int().nullable().describe('Bytes to be read, as they are in memory.'),
      rows_at_most: z.int().nullable().describe('No more than these are read.'),
      parts: selected.nullable().describe('Parts of tables.'),
      granules: selected.nullable().describe('The portions of rows that an index can skip.'),
      skipped_share: z.number().nullable().describe('What indexes skip, 0 to 1.'),
      reason: z.string().nullable().describe('Why something is not known.'),
    }),
    limits: z.record(z.string(), z.number()).describe('Those that apply, by their settings.'),
    warnings: z.array(record('QueryWarning', { code: z.string(), detail: z.string() })),
  })
  .meta({ id: 'QueryExplanation' })

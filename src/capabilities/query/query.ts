import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { cursorAfter, readCursor } from './compile/pages.ts'
import type { Column } from './compile/statement.ts'
import { queryLimits } from './language/limits.ts'
import { type Query, querySchema } from './language/page-query.ts'
import type { QueryClass, QueryStats } from './run/contract.ts'
import type { RunDeps } from './run/open-queries.ts'
import { prepareQuery } from './run/prepare-run.ts'
import { addRestoredSlices, type QueryResult, runQuery, toJsonRow } from './run/run-query.ts'

/** POST /api/v2/observability/query: returns a page of records, selected by any of their fields. */
export function runQueryRoute(deps: RunDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/query',
    id: 'runQuery',
    summary: 'Query records by their fields',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    body: querySchema,
    reply: pageReply,
    errors: ['invalid_cursor', 'query_too_expensive', 'rate_limited', 'store_unavailable'],
    handle: ({ body, caller: { project_id }, signal }) =>
      answerQuery(deps, { ...body, project_id, signal }),
  })
}

/** A query, the cursor of its page, and its caller. */
type PageRequest = {
  query: Query
  cursor: string | undefined
  project_id: string
  signal: AbortSignal
}

/** Runs a query and returns its page. Throws like `runQuery`, and `invalid_cursor`. */
export async function answerQuery(deps: RunDeps, { cursor, query: body, ...caller }: PageRequest) {
  const query = await addRestoredSlices(deps, body, caller.project_id)
  const run = prepareQuery(query, caller, ({ keys }) =>
    cursor === undefined ? undefined : readCursor(list(), cursor, keys),
  )
  const list = () => `${run.entity} ${run.query.hash}`
  const result = await runQuery(deps, run)
  const { columns, keys } = result.statement
  const last = result.rows.length > query.limit ? result.rows[query.limit - 1] : undefined
  return {
    rows: result.rows.slice(0, query.limit).map((row) => toJsonRow(row, columns)),
    columns: toAnswerColumns(columns),
    next_cursor: last === undefined ? null : cursorAfter(list(), last, keys),
    served_by: result.served_by,
    fallback_reason: result.fallback_reason,
    stats: toAnswerStats(result.stats),
  }
}

/** Returns the columns as answers list them. */
export function toAnswerColumns(columns: readonly Column[]) {
  return columns.map(({ name, type }) => ({ name, type }))
}

/** Returns the cost of a statement as answers state it. Rounds durations to microseconds. */
export function toAnswerStats({ rows_read, bytes_read, duration_ms }: QueryStats) {
  return { rows_read, bytes_read, duration_ms: Math.round(duration_ms * 1000) / 1000 }
}

/** The fields of every answer. */
export const answerFields = {
  rows: z
    .array(z.record(z.string(), z.unknown()))
    .describe(
      'Rows, keyed by column name. Times are ISO 8601, money is text, unknown values are null.',
    ),
  columns: z
    .array(record('QueryColumn', { name: z.string(), type: z.string() }))
    .describe('Columns, in the requested order.'),
  served_by: z.enum(['clickhouse', 'postgres']).describe('Store that answered.'),
  fallback_reason: z
    .string()
    .nullable()
    .describe('Why the preferred store did not answer; null when it did.'),
  stats: record('QueryStats', {
    rows_read: z.int().nullable().describe('Rows read; null if the store does not report it.'),
    bytes_read: z
      .int()
      .nullable()
      .describe('Bytes read, uncompressed; null if the store does not report it.'),
    duration_ms: z.number().describe('Time that the store took, in milliseconds.'),
  }),
}

/** The answer of POST query. */
const pageReply = z
  .strictObject({
    ...answerFields,
    next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
  })
  .meta({ id: 'QueryPage' })

/** A request of a route for records to process: a query's body without its limit. */
type RecordsRequest = {
  body: Readonly<Record<string, unknown>>
  /** Maximum records; may exceed the limit of clients' own queries. */
  rows_max: number
  query_class: QueryClass
  project_id: string
  signal: AbortSignal
}

/**
 * Rows as the store returns them: the value of field `name` is `row[alias[name]]`; see `Column`.
 */
export type RecordsRead = Pick<QueryResult, 'rows' | 'served_by' | 'fallback_reason' | 'stats'> & {
  alias: Readonly<Record<string, string>>
  /** Whether more than `rows_max` records match. */
  more: boolean
}

/** Reads records by the project's store routing, in one statement. Throws like `runQuery`. */
export async function readRecords(
  deps: RunDeps,
  { body, rows_max, query_class, project_id, signal }: RecordsRequest,
): Promise<RecordsRead> {
  const limit = Math.min(rows_max, queryLimits.rows_max)
  const { query } = querySchema.parse({ allow_wide: true, ...body, limit })
  const caller = { project_id, signal }
  const start = () => undefined
  const { compile } = prepareQuery({ ...query, limit: rows_max }, caller, start)
  const result_rows_max = Math.max(deps.limits.result_rows_max, rows_max)
  const result = await runQuery(
    { ...deps, limits: { ...deps.limits, result_rows_max } },
    { ...prepareQuery(query, caller, start), query_class, compile },
  )
  const { rows, served_by, fallback_reason, stats } = result
  return {
    served_by,
    fallback_reason,
    stats,
    rows: rows.slice(0, rows_max),
    more: rows.length > rows_max,
    alias: Object.fromEntries(result.statement.columns.map(({ name, alias }) => [name, alias])),
  }
}

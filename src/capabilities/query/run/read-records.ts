import { queryLimits } from '../language/limits.ts'
import { querySchema } from '../language/page-query.ts'
import type { QueryClass } from './contract.ts'
import type { RunDeps } from './open-queries.ts'
import { prepareQuery } from './prepare-run.ts'
import { type QueryResult, runQuery } from './run-query.ts'

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
    ...{ served_by, fallback_reason, stats },
    rows: rows.slice(0, rows_max),
    more: rows.length > rows_max,
    alias: Object.fromEntries(result.statement.columns.map(({ name, alias }) => [name, alias])),
  }
}

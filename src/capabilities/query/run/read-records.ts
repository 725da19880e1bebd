import { queryLimits } from '../language/limits.ts'
import { querySchema } from '../language/schemas.ts'
import { askedQuery } from './asked-run.ts'
import type { QueryClass } from './contract.ts'
import { type Ran, type RunDeps, runQuery } from './run-query.ts'

/** Records that a route wants to work on: a query's body, without its limit. */
export type RecordsAsked = {
  body: Readonly<Record<string, unknown>>
  /** May be more than a client's own query may ask for. */
  rows_max: number
  query_class: QueryClass
  project_id: string
  signal: AbortSignal
}

/** Rows as the store gave them: the value of field `name` is `row[alias[name]]`; see `Column`. */
export type RecordsRead = Pick<Ran, 'rows' | 'served_by' | 'fallback_reason' | 'stats'> & {
  alias: Readonly<Record<string, string>>
  /** There are more than `rows_max`. */
  more: boolean
}

/** Reads records by the project's routing, in one statement. Throws as `runQuery` does. */
export async function readRecords(
  deps: RunDeps,
  { body, rows_max, query_class, project_id, signal }: RecordsAsked,
): Promise<RecordsRead> {
  const limit = Math.min(rows_max, queryLimits.rows_max)
  const { query } = querySchema.parse({ allow_wide: true, ...body, limit })
  const caller = { project_id, signal }
  const start = () => undefined
  const { compile } = askedQuery({ ...query, limit: rows_max }, caller, start)
  const result_rows_max = Math.max(deps.limits.result_rows_max, rows_max)
  const ran = await runQuery(
    { ...deps, limits: { ...deps.limits, result_rows_max } },
    { ...askedQuery(query, caller, start), query_class, compile },
  )
  const { rows, served_by, fallback_reason, stats } = ran
  return {
    ...{ served_by, fallback_reason, stats },
    rows: rows.slice(0, rows_max),
    more: rows.length > rows_max,
    alias: Object.fromEntries(ran.statement.columns.map(({ name, alias }) => [name, alias])),
  }
}

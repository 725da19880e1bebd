import { z } from 'zod'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { type Aggregate, aggregateSchema } from './language/aggregate-query.ts'
import { answerFields, toAnswerColumns, toAnswerStats, toJsonRow } from './query.ts'
import { fillGaps } from './run/fill-gaps.ts'
import type { RunDeps } from './run/open-queries.ts'
import { prepareAggregate } from './run/prepare-run.ts'
import { addRestoredSlices, runQuery } from './run/run-query.ts'

/** POST /api/v2/observability/query/aggregate: returns measures of groups of records. */
export function runAggregateRoute(deps: RunDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/query/aggregate',
    id: 'runAggregate',
    summary: 'Aggregate records by group',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    body: aggregateSchema,
    reply: aggregateReply,
    errors: ['query_too_expensive', 'rate_limited', 'store_unavailable'],
    handle: ({ body: aggregate, caller: { project_id }, signal }) =>
      answerAggregate(deps, { aggregate, project_id, signal }),
  })
}

/** The answer of POST query/aggregate. */
const aggregateReply = z
  .strictObject({
    ...answerFields,
    truncated: z
      .boolean()
      .describe(
        'Whether groups above the limit were left out. With `fill`, whole buckets are left out.',
      ),
  })
  .meta({ id: 'AggregateAnswer' })

/** An aggregate query and its caller. */
type AggregateRequest = { aggregate: Aggregate; project_id: string; signal: AbortSignal }

/** Runs an aggregate and returns its answer. Throws like `runQuery`. */
export async function answerAggregate(
  deps: RunDeps,
  { aggregate: body, ...caller }: AggregateRequest,
) {
  const aggregate = await addRestoredSlices(deps, body, caller.project_id)
  const { statement, rows, served_by, fallback_reason, stats } = await runQuery(
    deps,
    prepareAggregate(aggregate, caller),
  )
  const { columns } = statement
  const jsonRows = rows.map((row) => toJsonRow(row, columns))
  const groups = {
    rows: jsonRows.slice(0, aggregate.limit),
    truncated: jsonRows.length > aggregate.limit,
  }
  const { rows: whole, truncated } = aggregate.fill ? fillGaps(aggregate, jsonRows) : groups
  return {
    rows: whole,
    columns: toAnswerColumns(columns),
    truncated,
    ...{ served_by, fallback_reason },
    stats: toAnswerStats(stats),
  }
}

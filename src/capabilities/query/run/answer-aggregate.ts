import { rowOf } from '../compile/read-rows.ts'
import type { Aggregate } from '../language/check-aggregate.ts'
import { shownColumns, shownStats } from './answer-parts.ts'
import { askedAggregate } from './asked-run.ts'
import { fillGaps } from './fill-gaps.ts'
import { type RunDeps, runQuery } from './run-query.ts'
import { withSlices } from './with-slices.ts'

/** What is asked. */
export type AggregateAsked = { aggregate: Aggregate; project_id: string; signal: AbortSignal }

/** Runs an aggregate and shapes its answer. Throws as `runQuery` does. */
export async function answerAggregate(deps: RunDeps, given: AggregateAsked) {
  const { aggregate: body, ...caller } = given
  const aggregate = await withSlices(deps, body, caller.project_id)
  const { statement, rows, served_by, fallback_reason, stats } = await runQuery(
    deps,
    askedAggregate(aggregate, caller),
  )
  const { columns } = statement
  const shown = rows.map((row) => rowOf(row, columns))
  const groups = {
    rows: shown.slice(0, aggregate.limit),
    truncated: shown.length > aggregate.limit,
  }
  const { rows: whole, truncated } = aggregate.fill ? fillGaps(aggregate, shown) : groups
  return {
    rows: whole,
    columns: shownColumns(columns),
    truncated,
    ...{ served_by, fallback_reason },
    stats: shownStats(stats),
  }
}
